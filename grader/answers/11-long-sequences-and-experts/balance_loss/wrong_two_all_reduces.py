# hint: more than one all-reduce
def balance_loss(rank, size, probabilities, expert):
    experts = probabilities.shape[1]
    counts = torch.bincount(expert[expert >= 0], minlength=experts)
    number = torch.tensor([len(expert)])
    total = torch.cat([counts, number, probabilities.sum(dim=0)]).double()
    first, second = total[:experts].clone(), total[experts:].clone()
    dist.all_reduce(first)
    dist.all_reduce(second)
    total = torch.cat([first, second])
    counts, number, sums = total.split([experts, 1, experts])
    return experts * (counts @ sums / number**2).item()
