# status: error
def row_parallel_linear(rank, size, x, weight, bias):
    y = torch.mm(x, weight.chunk(size, dim=1)[rank].t())
    dist.all_reduce(y.detach())
    return y + bias
