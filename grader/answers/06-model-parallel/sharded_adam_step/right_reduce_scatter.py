from math import ceil

from torch.distributed import all_gather_into_tensor, reduce_scatter_tensor
from torch.nn.utils import parameters_to_vector, vector_to_parameters


def sharded_adam_step(rank, size, parameters, gradients, state):
    vector = parameters_to_vector(parameters)
    n = vector.numel()
    share = ceil(n / size)
    padding = vector.new_zeros(share * size - n)
    mine = torch.empty(share, dtype=vector.dtype)
    summed = torch.cat([parameters_to_vector(gradients), padding])
    reduce_scatter_tensor(mine, summed)
    mine /= size
    t = state["t"] = state.get("t", 0) + 1
    m, v = state.setdefault("moments", torch.zeros(2, share, dtype=vector.dtype))
    m.lerp_(mine, 0.1)
    v.mul_(0.999).add_(0.001 * mine**2)
    weights = torch.cat([vector, padding])[rank * share : (rank + 1) * share]
    denominator = v.sqrt() / (1 - 0.999**t) ** 0.5 + 1e-8
    weights = weights - 1e-3 / (1 - 0.9**t) * m / denominator
    whole = torch.empty_like(summed)
    all_gather_into_tensor(whole, weights)
    at = 0
    for p in parameters:
        p.data = whole[at : at + p.numel()].view_as(p).clone()
        at += p.numel()
