# hint: ranks for experts
def balance_loss(rank, size, probabilities, expert):
    experts = probabilities.shape[1]
    counts = torch.bincount(expert[expert >= 0], minlength=experts).double()
    tokens = torch.tensor([len(expert)], dtype=torch.float64)
    sums = torch.cat([counts, probabilities.double().sum(0), tokens])
    dist.all_reduce(sums)
    f, p = sums[:experts] / sums[-1], sums[experts:-1] / sums[-1]
    return (size * (f * p).sum()).item()
