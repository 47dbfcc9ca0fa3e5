def balance_loss(rank, size, probabilities, expert):
    # means over the ranks: their number falls out of the fraction
    E = probabilities.shape[1]
    onehot = (expert[:, None] == torch.arange(E)).double()
    x = torch.cat([onehot.sum(0), probabilities.sum(0).double(), torch.tensor([float(len(expert))])])
    dist.all_reduce(x, dist.ReduceOp.AVG)
    return float(E * (x[:E] * x[E : 2 * E]).sum() / x[-1] ** 2)
