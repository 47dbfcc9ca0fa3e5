# hint: own gradients
def sharded_adam_step(rank, size, parameters, gradients, state):
    n = sum(p.numel() for p in parameters)
    mine = slice(rank * n // size, (rank + 1) * n // size)
    g = torch.cat([g.reshape(-1) for g in gradients])[mine]
    if not state:
        state.update(t=0, m=torch.zeros_like(g), v=torch.zeros_like(g))
    state["t"] += 1
    state["m"].mul_(0.9).add_(g, alpha=0.1)
    state["v"].mul_(0.999).addcmul_(g, g, value=0.001)
    m, v = state["m"] / (1 - 0.9 ** state["t"]), state["v"] / (1 - 0.999 ** state["t"])
    flat = torch.cat([p.reshape(-1) for p in parameters])
    flat[mine] -= 1e-3 * m / (v.sqrt() + 1e-8)
    for p, piece in zip(parameters, flat.split([p.numel() for p in parameters])):
        p.copy_(piece.view_as(p))
