# hint: one moment not corrected
def sharded_adam_step(rank, size, parameters, gradients, state):
    n = sum(p.numel() for p in parameters)
    share = -(-n // size)
    pad = (0, share * size - n)
    mine = slice(rank * share, (rank + 1) * share)
    g = F.pad(torch.cat([g.reshape(-1) for g in gradients]), pad)
    dist.all_reduce(g)
    g = g[mine] / size
    if not state:
        state.update(m=torch.zeros_like(g), v=torch.zeros_like(g), t=0)
    state["t"] += 1
    state["m"].mul_(0.9).add_(g, alpha=0.1)
    state["v"].mul_(0.999).addcmul_(g, g, value=0.001)
    w = F.pad(torch.cat([p.reshape(-1) for p in parameters]), pad)[mine]
    v = state["v"] / (1 - 0.999 ** state["t"])
    w = w - 1e-3 * state["m"] / (v.sqrt() + 1e-8)
    parts = [torch.empty_like(g) for _ in range(size)]
    dist.all_gather(parts, w)
    for p, piece in zip(parameters, torch.cat(parts)[:n].split([p.numel() for p in parameters])):
        p.copy_(piece.view_as(p))
