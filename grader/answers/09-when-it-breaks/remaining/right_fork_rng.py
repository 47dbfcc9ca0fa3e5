def remaining(n, epoch, seed, done, rank, size):
    with torch.random.fork_rng():
        torch.manual_seed(seed + epoch)
        order = torch.randperm(n)
    return [int(i) for k, i in enumerate(order[done:]) if k % size == rank]
