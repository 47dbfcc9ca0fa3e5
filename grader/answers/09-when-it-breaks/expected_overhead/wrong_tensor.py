# hint: a tensor
def expected_overhead(interval, cost, mtbf):
    return torch.tensor(cost / interval + interval / (2 * mtbf))
