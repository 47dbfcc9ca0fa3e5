def balance_loss(rank, size, probabilities, expert):
    E = probabilities.shape[1]
    scale = 2 ** 40
    sums = (probabilities.double().sum(0) * scale).round().to(torch.int64)
    counts = torch.bincount(expert + 1, minlength=E + 1)
    t = torch.cat([counts, sums])
    dist.all_reduce(t)
    n = int(t[: E + 1].sum())
    return E * sum(int(t[1 + e]) * int(t[E + 1 + e]) for e in range(E)) / n ** 2 / scale
