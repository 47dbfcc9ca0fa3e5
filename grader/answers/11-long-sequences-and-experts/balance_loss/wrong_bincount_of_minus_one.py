# hint: negative numbers counted
# status: error
def balance_loss(rank, size, probabilities, expert):
    experts = probabilities.shape[1]
    counts = torch.bincount(expert, minlength=experts)
    total = torch.cat([counts, probabilities.sum(0), torch.tensor([float(len(expert))])])
    dist.all_reduce(total)
    n = total[-1]
    return (experts * (total[:experts] / n * total[experts:-1] / n).sum()).item()
