# hint: partial sums
def row_parallel_linear(rank, size, x, weight, bias):
    y = F.linear(x, weight[:, : x.shape[-1]])
    dist.all_reduce(y.detach())
    return y + bias
