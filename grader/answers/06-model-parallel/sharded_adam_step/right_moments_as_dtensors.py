from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard


def sharded_adam_step(rank, size, parameters, gradients, state):
    n = sum(p.numel() for p in parameters)
    k = -(-n // size)
    pad = lambda ts: F.pad(torch.cat([t.detach().reshape(-1) for t in ts]), (0, k * size - n))
    p, g = pad(parameters), pad(gradients)
    dist.all_reduce(g)
    g = g[rank * k : (rank + 1) * k] / size
    mine = p[rank * k : (rank + 1) * k].clone()
    if not state:
        mesh = init_device_mesh(p.device.type, (size,))
        state["mesh"] = mesh
        state["m"] = DTensor.from_local(torch.zeros_like(g), mesh, [Shard(0)], run_check=False)
        state["v"] = DTensor.from_local(torch.zeros_like(g), mesh, [Shard(0)], run_check=False)
        state["t"] = 0
    state["t"] += 1
    m, v = state["m"].to_local(), state["v"].to_local()
    m.mul_(0.9).add_(g, alpha=0.1)
    v.mul_(0.999).addcmul_(g, g, value=0.001)
    mine -= 1e-3 * (m / (1 - 0.9 ** state["t"])) / ((v / (1 - 0.999 ** state["t"])).sqrt() + 1e-8)
    parts = [torch.empty_like(mine) for _ in range(size)]
    dist.all_gather(parts, mine)
    at, whole = 0, torch.cat(parts)
    for q in parameters:
        q.data.copy_(whole[at : at + q.numel()].view_as(q))
        at += q.numel()
