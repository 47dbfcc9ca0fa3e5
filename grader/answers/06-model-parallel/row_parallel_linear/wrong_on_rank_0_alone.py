# status: wrong
def row_parallel_linear(rank, size, x, weight, bias):
    y = F.linear(x, weight.chunk(size, dim=1)[rank])
    dist.reduce(y.detach(), 0)
    return y + bias
