# hint: read before wait
def balance_loss(rank, size, probabilities, expert):
    experts = probabilities.shape[1]
    counts = torch.bincount(expert[expert >= 0], minlength=experts)
    number = torch.tensor([len(expert)])
    total = torch.cat([counts, number, probabilities.sum(dim=0)]).double()
    r = dist.all_reduce(total, async_op=True)
    counts, number, sums = total.split([experts, 1, experts])
    x = experts * (counts @ sums / number**2).item()
    r.wait()
    return x
