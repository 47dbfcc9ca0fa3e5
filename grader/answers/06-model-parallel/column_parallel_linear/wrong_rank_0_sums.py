# status: wrong
def column_parallel_linear(rank, size, x, weight, bias):
    def to_rank_0(gradient):
        gradient = gradient.clone()
        dist.reduce(gradient, 0)
        return gradient

    x = x.view_as(x)
    x.register_hook(to_rank_0)
    return F.linear(x, weight.chunk(size)[rank], bias.chunk(size)[rank])
