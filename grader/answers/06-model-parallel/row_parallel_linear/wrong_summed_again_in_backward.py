# hint: gradient size times
import torch.distributed.nn


def row_parallel_linear(rank, size, x, weight, bias):
    y = F.linear(x, weight.chunk(size, dim=1)[rank])
    return torch.distributed.nn.functional.all_reduce(y) + bias
