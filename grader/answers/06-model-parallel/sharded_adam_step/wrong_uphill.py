# hint: the other way
def sharded_adam_step(rank, size, parameters, gradients, state):
    flat = torch.cat([g.reshape(-1) for g in gradients])
    dist.all_reduce(flat)
    mine = slice(rank * len(flat) // size, (rank + 1) * len(flat) // size)
    g = flat[mine] / size
    if not state:
        state.update(t=0, m=torch.zeros_like(g), v=torch.zeros_like(g))
    state["t"] += 1
    state["m"].mul_(0.9).add_(g, alpha=0.1)
    state["v"].mul_(0.999).addcmul_(g, g, value=0.001)
    m, v = state["m"] / (1 - 0.9 ** state["t"]), state["v"] / (1 - 0.999 ** state["t"])
    change = torch.zeros_like(flat)
    change[mine] = 1e-3 * m / (v.sqrt() + 1e-8)
    dist.all_reduce(change)
    for p, piece in zip(parameters, change.split([p.numel() for p in parameters])):
        p.add_(piece.view_as(p))
