def sharded_adam_step(rank, size, parameters, gradients, state):
    sizes = [p.numel() for p in parameters]
    share = -(-sum(sizes) // size)
    line = F.pad(torch.cat([p.reshape(-1) for p in parameters]), (0, share * size - sum(sizes)))
    slope = F.pad(torch.cat([g.reshape(-1) for g in gradients]), (0, len(line) - sum(sizes)))
    dist.all_reduce(slope)
    mine = slice(rank * share, (rank + 1) * share)
    g = slope[mine].double() / size
    t, (m, v) = state.get("t", 0) + 1, state.get("moments", ([0.0] * share, [0.0] * share))
    m = 0.9 * torch.tensor(m, dtype=torch.float64) + 0.1 * g
    v = 0.999 * torch.tensor(v, dtype=torch.float64) + 0.001 * g * g
    state["t"], state["moments"] = t, (m.tolist(), v.tolist())
    step = 1e-3 * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)).sqrt() + 1e-8)
    new = (line[mine] - step).to(line.dtype)
    parts = [torch.empty_like(new) for _ in range(size)]
    dist.all_gather(parts, new)
    for p, part in zip(parameters, torch.cat(parts)[: sum(sizes)].split(sizes), strict=True):
        p.copy_(part.view_as(p))
