def column_parallel_linear(rank, size, x, weight, bias):
    def add_up(gradient):
        gradient = gradient.clone()
        dist.all_reduce(gradient)
        return gradient

    x = x.view_as(x)
    x.register_hook(add_up)
    w, b = weight.chunk(size)[rank], bias.chunk(size)[rank]
    return x @ w.t() + b
