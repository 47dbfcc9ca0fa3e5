# hint: gradient size times
class Average(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, size):
        ctx.size = size
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        dist.all_reduce(gradient)
        return gradient / ctx.size, None


def column_parallel_linear(rank, size, x, weight, bias):
    return F.linear(Average.apply(x, size), weight.chunk(size)[rank], bias.chunk(size)[rank])
