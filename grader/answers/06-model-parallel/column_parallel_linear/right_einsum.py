from torch.distributed import all_gather


class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, size):
        ctx.size = size
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        everybody = [torch.empty_like(gradient) for _ in range(ctx.size)]
        all_gather(everybody, gradient.contiguous())
        return torch.stack(everybody).sum(0), None


def column_parallel_linear(rank, size, x, weight, bias):
    print("slice", rank)
    w = weight.view(size, -1, weight.shape[1])[rank]
    return torch.einsum("...i,oi->...o", Copy.apply(x, size), w) + bias.view(size, -1)[rank]
