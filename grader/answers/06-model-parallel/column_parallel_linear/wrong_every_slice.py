# hint: whole product computed
def column_parallel_linear(rank, size, x, weight, bias):
    x = x.view_as(x)
    x.register_hook(all_added)
    slices = [F.linear(x, w, b) for w, b in zip(weight.chunk(size), bias.chunk(size))]
    return slices[rank]


def all_added(gradient):
    gradient = gradient.clone()
    dist.all_reduce(gradient)
    return gradient
