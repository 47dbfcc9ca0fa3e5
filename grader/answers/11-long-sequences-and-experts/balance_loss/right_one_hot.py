def balance_loss(rank, size, probabilities, expert):
    t, experts = probabilities.shape
    # −1 becomes column 0, which is cut off
    counts = F.one_hot(expert + 1, experts + 1)[:, 1:].sum(dim=0)
    rows = torch.stack([counts.double(), probabilities.double().sum(0)])
    everything = torch.cat([rows.flatten(), torch.tensor([float(t)], dtype=torch.float64)])
    if size > 1:
        dist.all_reduce(everything, op=dist.ReduceOp.SUM)
    n = everything[-1].item()
    f, p = everything[:-1].view(2, experts) / n
    return (experts * (f * p).sum()).item()
