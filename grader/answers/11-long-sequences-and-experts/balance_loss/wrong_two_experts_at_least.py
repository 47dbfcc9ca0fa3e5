# hint: single expert
def balance_loss(rank, size, probabilities, expert):
    E = probabilities.shape[1]
    counts = torch.bincount(expert[expert >= 0], minlength=E).double()
    v = torch.cat([counts, probabilities.double().sum(0), torch.tensor([len(expert)]).double()])
    dist.all_reduce(v)
    return (max(E, 2) * v[:E] @ v[E:-1] / v[-1] ** 2).item()
