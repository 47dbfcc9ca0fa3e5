# hint: result of an in-place call
def row_parallel_linear(rank, size, x, weight, bias):
    width = weight.shape[1] // size
    part = x @ weight[:, rank * width : (rank + 1) * width].T
    return dist.all_reduce(part)
