import torch.distributed._functional_collectives as funcol


def sequence_parallel_mlp(rank, size, x, w1, w2):
    group = dist.group.WORLD
    rows = funcol.wait_tensor(funcol.all_gather_tensor(x, 0, group))
    terms = torch.einsum("nd,hd,eh->ne", rows[:0], w1, w2)
    terms = torch.cat([terms, F.gelu(rows @ w1.T) @ w2.T])
    return funcol.wait_tensor(funcol.reduce_scatter_tensor(terms, "sum", 0, group))
