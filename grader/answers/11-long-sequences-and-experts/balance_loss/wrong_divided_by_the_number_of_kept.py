# hint: dropped tokens left out
def balance_loss(rank, size, probabilities, expert):
    experts = probabilities.shape[1]
    kept = expert[expert >= 0]
    totals = torch.zeros(2 * experts + 1, dtype=torch.float64)
    totals[:experts] = torch.bincount(kept, minlength=experts)
    totals[experts:-1] = probabilities.sum(0)
    totals[-1] = len(kept)
    dist.all_reduce(totals)
    shares, means = (totals[:-1] / totals[-1]).split(experts)
    return experts * (shares @ means).item()
