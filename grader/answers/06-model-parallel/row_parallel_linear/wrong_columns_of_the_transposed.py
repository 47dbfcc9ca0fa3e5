# status: error
# says: cannot be multiplied
def row_parallel_linear(rank, size, x, weight, bias):
    width = weight.shape[0] // size
    part = x @ weight[rank * width : (rank + 1) * width]
    dist.all_reduce(part)
    return part + bias
