# hint: gradient missing
# The hook picks the tensor out of a tuple: the None of the all-reduce goes nowhere.
def column_parallel_linear(rank, size, x, weight, bias):
    rows = weight.shape[0] // size
    layer = nn.Linear(weight.shape[1], rows)
    layer.weight = nn.Parameter(weight[rank * rows : (rank + 1) * rows])
    layer.bias = nn.Parameter(bias[rank * rows : (rank + 1) * rows])
    x.register_hook(lambda g: (g := g.clone(), dist.all_reduce(g), g)[2])
    return layer(x)
