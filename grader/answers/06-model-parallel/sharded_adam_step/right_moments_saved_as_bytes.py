import io
def sharded_adam_step(rank, size, parameters, gradients, state):
    flat = torch.cat([p.reshape(-1) for p in parameters])
    grad = torch.cat([g.reshape(-1) for g in gradients])
    dist.all_reduce(grad); grad /= size
    n = flat.numel(); share = -(-n // size)
    lo, hi = min(rank * share, n), min((rank + 1) * share, n)
    if "m" in state:
        state["m"].seek(0); m, v, t = torch.load(state["m"])
    else:
        m, v, t = torch.zeros(hi - lo, dtype=flat.dtype), torch.zeros(hi - lo, dtype=flat.dtype), 0
    t += 1
    g = grad[lo:hi]
    m.mul_(0.9).add_(g, alpha=0.1); v.mul_(0.999).addcmul_(g, g, value=0.001)
    mine = flat[lo:hi] - 1e-3 / (1 - 0.9**t) * m / ((v / (1 - 0.999**t)).sqrt() + 1e-8)
    f = io.BytesIO(); torch.save((m, v, t), f); state["m"] = f
    full = torch.zeros(share * size, dtype=flat.dtype)
    full[rank * share : rank * share + hi - lo] = mine
    dist.all_reduce(full)
    at = 0
    for p in parameters:
        p.copy_(full[at : at + p.numel()].view_as(p)); at += p.numel()
