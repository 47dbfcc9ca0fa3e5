# hint: NaN
def balance_loss(rank, size, probabilities, expert):
    experts = probabilities.shape[1]
    f = torch.stack([(expert == e).float().mean() for e in range(experts)])
    number = torch.tensor([float(len(expert))])
    p = probabilities.float().mean(0)
    both = torch.cat([f * number, p * number, number])
    dist.all_reduce(both)
    n = both[-1]
    return (experts * (both[:experts] / n * both[experts:-1] / n).sum()).item()
