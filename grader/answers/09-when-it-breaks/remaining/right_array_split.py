def remaining(n, epoch, seed, done, rank, size):
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed + epoch))
    return [int(i) for i in torch.tensor_split(order[done:], size)[rank]]
