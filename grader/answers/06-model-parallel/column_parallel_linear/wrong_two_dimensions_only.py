# status: error
def column_parallel_linear(rank, size, x, weight, bias):
    x = x.view_as(x)
    x.register_hook(all_added)
    return torch.addmm(bias.chunk(size)[rank], x, weight.chunk(size)[rank].t())


def all_added(gradient):
    gradient = gradient.clone()
    dist.all_reduce(gradient)
    return gradient
