# hint: bias on every rank
def row_parallel_linear(rank, size, x, weight, bias):
    y = F.linear(x, weight.chunk(size, dim=1)[rank], bias)
    dist.all_reduce(y.detach())
    return y
