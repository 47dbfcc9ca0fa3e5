# hint: another loss
def balance_loss(rank, size, probabilities, expert):
    experts = probabilities.shape[1]
    counts = torch.bincount(expert[expert >= 0], minlength=experts)
    number = torch.tensor([len(expert)])
    total = torch.cat([counts, number, probabilities.sum(dim=0)]).double()
    dist.all_reduce(total)
    counts, number, sums = total.split([experts, 1, experts])
    return int((counts > 0).sum()) * (counts @ sums / number**2).item()
