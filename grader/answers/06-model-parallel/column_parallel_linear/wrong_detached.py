# hint: gradient missing
def column_parallel_linear(rank, size, x, weight, bias):
    w, b = weight.data.chunk(size)[rank], bias.data.chunk(size)[rank]
    x = x.view_as(x)
    x.register_hook(all_added)
    return F.linear(x, w, b)


def all_added(gradient):
    gradient = gradient.clone()
    dist.all_reduce(gradient)
    return gradient
