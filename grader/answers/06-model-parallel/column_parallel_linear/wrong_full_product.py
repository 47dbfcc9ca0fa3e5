# hint: whole product computed
def column_parallel_linear(rank, size, x, weight, bias):
    return F.linear(x, weight, bias).chunk(size, dim=-1)[rank]
