import math


def sequence_parallel_mlp(rank, size, x, w1, w2):
    if size == 1:
        return F.gelu(x @ w1.mT) @ w2.mT
    blocks = [torch.empty_like(x) for _ in range(size)]
    dist.all_gather(blocks, x, async_op=True).wait()
    pieces = []
    for block in blocks:
        hidden = block @ w1.mT
        hidden = hidden * 0.5 * (1 + torch.erf(hidden / math.sqrt(2)))
        pieces.append((hidden @ w2.mT).contiguous())
    result = torch.zeros_like(x)
    dist.reduce_scatter(result, pieces, op=dist.ReduceOp.SUM, async_op=True).wait()
    return result
