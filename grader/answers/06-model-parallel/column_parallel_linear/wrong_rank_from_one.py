# hint: another slice
def column_parallel_linear(rank, size, x, weight, bias):
    x = x.view_as(x)
    x.register_hook(all_added)
    rank = (rank + 1) % size
    return F.linear(x, weight.chunk(size)[rank], bias.chunk(size)[rank])


def all_added(gradient):
    gradient = gradient.clone()
    dist.all_reduce(gradient)
    return gradient
