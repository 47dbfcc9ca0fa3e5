# hint: gradient size times
class Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y):
        y = y.clone()
        dist.all_reduce(y)
        return y

    @staticmethod
    def backward(ctx, g):
        g = g.clone()
        dist.all_reduce(g)
        return g


def row_parallel_linear(rank, size, x, weight, bias):
    return Sum.apply(F.linear(x, weight.chunk(size, dim=1)[rank])) + bias
