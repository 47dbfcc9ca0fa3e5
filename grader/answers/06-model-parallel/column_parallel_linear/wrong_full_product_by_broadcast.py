# hint: whole product computed
def column_parallel_linear(rank, size, x, weight, bias):
    x = x.view_as(x)
    x.register_hook(all_added)
    full = (x.unsqueeze(-2) * weight).sum(-1) + bias
    return full.chunk(size, dim=-1)[rank]


def all_added(gradient):
    gradient = gradient.clone()
    dist.all_reduce(gradient)
    return gradient
