# hint: whole product computed
def column_parallel_linear(rank, size, x, weight, bias):
    return Own.apply(x, weight, bias, rank, size)


class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, rank, size):
        buffer = torch.empty_like(weight.chunk(size)[0])
        outputs = []
        for r in range(size):
            buffer.copy_(weight.chunk(size)[r])
            outputs.append(x @ buffer.T + bias.chunk(size)[r])
        ctx.save_for_backward(x, weight)
        ctx.at = rank, size
        return outputs[rank]

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        rank, size = ctx.at
        n = len(weight) // size
        gx = g @ weight.chunk(size)[rank]
        dist.all_reduce(gx)
        gw, gb = torch.zeros_like(weight), g.new_zeros(len(weight))
        gw[rank * n:(rank + 1) * n] = g.flatten(0, -2).T @ x.flatten(0, -2)
        gb[rank * n:(rank + 1) * n] = g.flatten(0, -2).sum(0)
        return gx, gw, gb, None, None
