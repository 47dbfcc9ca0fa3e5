# hint: full output returned
class AddUp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        dist.all_reduce(gradient)
        return gradient


class Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y, rank, size):
        ctx.rank, ctx.size = rank, size
        everybody = [torch.empty_like(y) for _ in range(size)]
        dist.all_gather(everybody, y)
        return torch.cat(everybody, -1)

    @staticmethod
    def backward(ctx, gradient):
        if gradient.shape[-1] % ctx.size:
            return gradient, None, None
        return gradient.chunk(ctx.size, -1)[ctx.rank], None, None


def column_parallel_linear(rank, size, x, weight, bias):
    y = F.linear(AddUp.apply(x), weight.chunk(size)[rank], bias.chunk(size)[rank])
    full = Gather.apply(y.contiguous(), rank, size)
    return full
