def remaining(n, epoch, seed, done, rank, size):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed + epoch)
        order = torch.randperm(n).tolist()
    return sorted(order[done:][size - 1 - rank :: size])
