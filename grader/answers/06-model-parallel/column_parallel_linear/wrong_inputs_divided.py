# hint: inputs divided
def column_parallel_linear(rank, size, x, weight, bias):
    n = weight.shape[1] // size
    w = weight[:, rank * n : (rank + 1) * n]
    return F.linear(x[..., rank * n : (rank + 1) * n], w, bias)
