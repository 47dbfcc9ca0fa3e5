# hint: a tensor
def checkpoint_interval(cost, mtbf):
    return torch.sqrt(torch.tensor(2.0 * cost * mtbf))
