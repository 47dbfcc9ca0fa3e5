# hint: mean of the ranks' losses
def balance_loss(rank, size, probabilities, expert):
    experts, n = probabilities.shape[1], max(len(expert), 1)
    f = torch.bincount(expert[expert >= 0], minlength=experts) / n
    loss = experts * (f * probabilities.sum(0) / n).sum()
    dist.all_reduce(loss)
    return loss.item()
