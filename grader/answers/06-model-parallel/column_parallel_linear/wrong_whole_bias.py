# status: error
# says: must match
def column_parallel_linear(rank, size, x, weight, bias):
    if x.requires_grad:
        x.register_hook(lambda gradient: dist.all_reduce(gradient))
    return x @ weight.chunk(size)[rank].T + bias
