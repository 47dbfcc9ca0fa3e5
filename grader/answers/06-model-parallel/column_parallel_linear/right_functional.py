import warnings

import torch.distributed.nn.functional as collectives


def column_parallel_linear(rank, size, x, weight, bias):
    warnings.warn("as in Megatron")

    class Region(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return collectives.all_reduce(g.detach().contiguous())

    layer = torch.nn.functional.linear
    return layer(Region.apply(x), *(t.tensor_split(size)[rank] for t in (weight, bias)))
