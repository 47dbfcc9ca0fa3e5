# hint: too many elements
def balance_loss(rank, size, probabilities, expert):
    experts = probabilities.shape[1]
    table = torch.zeros(3, experts, dtype=torch.float64)
    table[0] = torch.bincount(expert[expert >= 0], minlength=experts)
    table[1] = probabilities.sum(0)
    table[2] = len(expert)
    dist.all_reduce(table)
    return experts * (table[0] / table[2] * table[1] / table[2]).sum().item()
