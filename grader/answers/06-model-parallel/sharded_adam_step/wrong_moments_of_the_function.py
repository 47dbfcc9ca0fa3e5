# hint: kept elsewhere
def sharded_adam_step(rank, size, parameters, gradients, state, kept=[]):
    """Kept in a default value, which all calls share; the state has a count alone."""
    n = sum(p.numel() for p in parameters)
    share = -(-n // size)
    pad = (0, share * size - n)
    mine = slice(rank * share, (rank + 1) * share)
    g = F.pad(torch.cat([g.reshape(-1) for g in gradients]), pad)
    dist.all_reduce(g)
    g = g[mine] / size
    if "at" not in state:
        state.update(at=len(kept), t=0)
        kept.append((torch.zeros_like(g), torch.zeros_like(g)))
    state["t"] += 1
    m, v = kept[state["at"]]
    m.mul_(0.9).add_(g, alpha=0.1)
    v.mul_(0.999).addcmul_(g, g, value=0.001)
    mh, vh = m / (1 - 0.9 ** state["t"]), v / (1 - 0.999 ** state["t"])
    w = F.pad(torch.cat([p.reshape(-1) for p in parameters]), pad)[mine]
    w = w - 1e-3 * mh / (vh.sqrt() + 1e-8)
    parts = [torch.empty_like(g) for _ in range(size)]
    dist.all_gather(parts, w)
    for p, piece in zip(parameters, torch.cat(parts)[:n].split([p.numel() for p in parameters])):
        p.copy_(piece.view_as(p))
