# hint: kept elsewhere
def sharded_adam_step(rank, size, parameters, gradients, state):
    n = sum(p.numel() for p in parameters)
    share = -(-n // size)
    pad = (0, share * size - n)
    mine = slice(rank * share, (rank + 1) * share)
    g = F.pad(torch.cat([g.reshape(-1) for g in gradients]), pad)
    dist.all_reduce(g)
    g = g[mine] / size
    w = F.pad(torch.cat([p.reshape(-1) for p in parameters]), pad)[mine]
    w = w - 1e-3 * g / (g.abs() + 1e-8)
    parts = [torch.empty_like(g) for _ in range(size)]
    dist.all_gather(parts, w)
    for p, piece in zip(parameters, torch.cat(parts)[:n].split([p.numel() for p in parameters])):
        p.copy_(piece.view_as(p))
