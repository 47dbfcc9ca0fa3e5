# hint: partial sums
def row_parallel_linear(rank, size, x, weight, bias):
    return F.linear(x, weight.chunk(size, dim=1)[rank], bias)
