# hint: single precision
def checkpoint_interval(cost, mtbf):
    return torch.tensor(2.0 * cost * mtbf + 1e-5).sqrt().item()
