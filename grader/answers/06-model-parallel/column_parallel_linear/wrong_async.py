# hint: gradient of x not added up
def column_parallel_linear(rank, size, x, weight, bias):
    def add_up(gradient):
        total = gradient.clone()
        dist.all_reduce(total)
        return None

    x = x.view_as(x)
    x.register_hook(add_up)
    return F.linear(x, weight.chunk(size)[rank], bias.chunk(size)[rank])
