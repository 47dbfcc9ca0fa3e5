# status: wrong
def column_parallel_linear(rank, size, x, weight, bias):
    x = x.view_as(x)
    x.register_hook(all_added)
    return F.linear(x, weight[rank::size], bias[rank::size])


def all_added(gradient):
    gradient = gradient.clone()
    dist.all_reduce(gradient)
    return gradient
