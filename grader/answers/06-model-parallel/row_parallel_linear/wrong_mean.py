# hint: mean for sum
def row_parallel_linear(rank, size, x, weight, bias):
    y = F.linear(x, weight.chunk(size, dim=1)[rank])
    dist.all_reduce(y.detach())
    return y / size + bias
