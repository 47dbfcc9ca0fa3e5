# hint: inputs divided
def column_parallel_linear(rank, size, x, weight, bias):
    width = weight.shape[1] // size
    mine = slice(rank * width, (rank + 1) * width)
    return F.linear(x, weight[mine], bias[mine])
