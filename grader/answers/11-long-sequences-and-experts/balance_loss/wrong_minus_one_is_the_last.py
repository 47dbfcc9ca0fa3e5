# hint: dropped tokens counted
def balance_loss(rank, size, probabilities, expert):
    experts = probabilities.shape[1]
    counts = torch.zeros(experts, dtype=torch.int64)
    for e in expert:
        counts[e] += 1
    number = torch.tensor([len(expert)])
    total = torch.cat([counts, number, probabilities.sum(dim=0)]).double()
    dist.all_reduce(total)
    counts, number, sums = total.split([experts, 1, experts])
    return experts * (counts @ sums / number**2).item()
