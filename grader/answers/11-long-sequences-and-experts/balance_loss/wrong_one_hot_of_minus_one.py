# status: error
# hint: no class
def balance_loss(rank, size, probabilities, expert):
    experts = probabilities.shape[1]
    counts = F.one_hot(expert, experts).sum(0)
    number = torch.tensor([len(expert)])
    total = torch.cat([counts, number, probabilities.sum(dim=0)]).double()
    dist.all_reduce(total)
    counts, number, sums = total.split([experts, 1, experts])
    return experts * (counts @ sums / number**2).item()
