import math


def sharded_adam_step(rank, size, parameters, gradients, state):
    """An optimizer object in the state, whose parameter is filled anew at each step."""
    n = sum(p.numel() for p in parameters)
    share = math.ceil(n / size)
    pad = (0, share * size - n)
    line = F.pad(torch.cat([p.reshape(-1) for p in parameters]), pad)
    slope = F.pad(torch.cat([g.reshape(-1) for g in gradients]), pad)
    dist.all_reduce(slope)
    if "optimizer" not in state:
        state["optimizer"] = torch.optim.Adam([torch.nn.Parameter(line.new_zeros(share))], lr=1e-3)
    (mine,) = state["optimizer"].param_groups[0]["params"]
    mine.data.copy_(line[rank * share : (rank + 1) * share])
    mine.grad = slope[rank * share : (rank + 1) * share] / size
    state["optimizer"].step()
    mine.grad = None
    parts = [torch.empty(share, dtype=line.dtype) for _ in range(size)]
    dist.all_gather(parts, mine.detach())
    for p, piece in zip(parameters, torch.cat(parts)[:n].split([p.numel() for p in parameters])):
        p.copy_(piece.view_as(p))
