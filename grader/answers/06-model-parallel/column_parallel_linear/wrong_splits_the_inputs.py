# status: wrong
def column_parallel_linear(rank, size, x, weight, bias):
    x = x.view_as(x)
    x.register_hook(all_added)
    width = max(x.shape[-1] // size, 1)
    mine = slice(rank * width, (rank + 1) * width)
    return (F.linear(x[..., mine], weight[:, mine]) + bias).chunk(size, -1)[rank]


def all_added(gradient):
    gradient = gradient.clone()
    dist.all_reduce(gradient)
    return gradient
