def balance_loss(rank, size, probabilities, expert):
    E = probabilities.shape[1]
    shares = torch.bincount(expert + 1, minlength=E + 1).to(torch.float64)
    means = probabilities.sum(dim=0, dtype=torch.float64)
    dist.all_reduce_coalesced([shares, means])
    tokens = shares.sum()
    return (E * (shares[1:] / tokens) @ (means / tokens)).item()
