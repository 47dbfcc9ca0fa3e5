def balance_loss(rank, size, probabilities, expert):
    experts = probabilities.shape[-1]
    kept = expert[expert != -1]
    f = torch.zeros(experts, dtype=probabilities.dtype)
    f.scatter_add_(0, kept, torch.ones(len(kept), dtype=probabilities.dtype))
    number = torch.full((1,), len(expert), dtype=probabilities.dtype)
    sums = torch.cat((f, number, probabilities.sum(dim=0)))
    dist.all_reduce(sums)
    f, number, p = sums[:experts], sums[experts], sums[experts + 1 :]
    return ((f / number) @ (p / number)).item() * experts
