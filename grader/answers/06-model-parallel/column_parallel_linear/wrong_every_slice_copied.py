# hint: whole product computed
def column_parallel_linear(rank, size, x, weight, bias):
    x = x.view_as(x)
    x.register_hook(all_added)
    outputs = []
    for r in range(size):  # each copy may come to lie where the one before it lay
        w, b = weight.chunk(size)[r].clone(), bias.chunk(size)[r]
        outputs.append(F.linear(x, w, b).detach() if r != rank else F.linear(x, w, b))
        del w
    return outputs[rank]


def all_added(gradient):
    gradient = gradient.clone()
    dist.all_reduce(gradient)
    return gradient
