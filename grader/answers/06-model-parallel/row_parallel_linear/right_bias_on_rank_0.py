from torch.distributed import all_reduce


class Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y):
        y = y.contiguous().clone()
        request = all_reduce(y, async_op=True)
        request.wait()
        return y

    @staticmethod
    def backward(ctx, g):
        return g.clone()


def row_parallel_linear(rank, size, x, weight, bias):
    # each rank has its turn with the bias in the sum, so that each has its gradient
    part = x @ weight.unflatten(1, (size, -1))[:, rank].mT
    part = part + (bias if rank == 0 else bias - bias.detach())
    return Sum.apply(part)
