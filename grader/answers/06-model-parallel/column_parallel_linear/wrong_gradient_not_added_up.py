# hint: gradient of x not added up
def column_parallel_linear(rank, size, x, weight, bias):
    return F.linear(x, weight.chunk(size)[rank], bias.chunk(size)[rank])
