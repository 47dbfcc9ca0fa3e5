def balance_loss(rank, size, probabilities, expert):
    """The number of tokens as the sum of all counts, those without an expert among them."""
    experts = probabilities.shape[1]
    counts = torch.bincount(expert + 1, minlength=experts + 1)
    told = torch.cat([counts.to(torch.float64), probabilities.sum(0).to(torch.float64)])
    dist.all_reduce(told, async_op=True).wait()
    counts, sums = told[: experts + 1].tolist(), told[experts + 1 :].tolist()
    n = sum(counts)
    return experts * sum(c / n * s / n for c, s in zip(counts[1:], sums))
