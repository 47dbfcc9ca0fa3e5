# hint: mean of the ranks' means
def balance_loss(rank, size, probabilities, expert):
    experts, n = probabilities.shape[1], max(len(expert), 1)
    f = torch.bincount(expert[expert >= 0], minlength=experts) / n
    both = torch.stack([f, probabilities.sum(0) / n])
    dist.all_reduce(both)
    f, p = both / size
    return (experts * (f * p).sum()).item()
