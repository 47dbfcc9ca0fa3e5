# hint: nothing returned
def row_parallel_linear(rank, size, x, weight, bias):
    y = F.linear(x, weight.chunk(size, dim=1)[rank])
    dist.all_reduce(y.detach())
    y + bias
