def sharded_adam_step(rank, size, parameters, gradients, state):
    sizes = [p.numel() for p in parameters]
    share = -(-sum(sizes) // size)
    line = F.pad(torch.cat([p.reshape(-1) for p in parameters]), (0, share * size - sum(sizes)))
    slope = F.pad(torch.cat([g.reshape(-1) for g in gradients]), (0, len(line) - sum(sizes)))
    dist.all_reduce(slope)
    mine = slice(rank * share, (rank + 1) * share)
    g = slope[mine] / size
    t, both = state.get("t", 0) + 1, state.get("both", torch.zeros_like(g) * 1j)
    m, v = 0.9 * both.real + 0.1 * g, 0.999 * both.imag + 0.001 * g * g
    state["t"], state["both"] = t, torch.complex(m, v)
    new = line[mine] - 1e-3 * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)).sqrt() + 1e-8)
    parts = [torch.empty_like(new) for _ in range(size)]
    dist.all_gather(parts, new)
    for p, part in zip(parameters, torch.cat(parts)[: sum(sizes)].split(sizes), strict=True):
        p.copy_(part.view_as(p))
