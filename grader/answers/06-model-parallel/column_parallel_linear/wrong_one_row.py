# hint: shapes
# status: error
def column_parallel_linear(rank, size, x, weight, bias):
    return F.linear(x, weight[rank], bias[rank])
