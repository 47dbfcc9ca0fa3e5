# hint: gradient missing
def row_parallel_linear(rank, size, x, weight, bias):
    y = F.linear(x, weight.chunk(size, dim=1)[rank]).detach()
    dist.all_reduce(y)
    return y + bias
