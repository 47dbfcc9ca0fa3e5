def checkpoint_interval(cost, mtbf):
    return torch.tensor(2 * cost * mtbf, dtype=torch.float64).sqrt().item()
