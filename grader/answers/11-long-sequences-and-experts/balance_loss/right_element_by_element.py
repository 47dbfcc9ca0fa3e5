def balance_loss(rank, size, probabilities, expert):
    experts = probabilities.shape[1]
    sums = torch.zeros(2 * experts + 1, dtype=torch.float64)
    for row, e in zip(probabilities.tolist(), expert.tolist()):
        for i in range(experts):
            sums[experts + i] += row[i]
        if e >= 0:
            sums[e] += 1
        sums[-1] += 1
    dist.all_reduce(sums)
    *both, tokens = sums.tolist()
    return experts * sum(both[i] * both[experts + i] for i in range(experts)) / tokens**2
