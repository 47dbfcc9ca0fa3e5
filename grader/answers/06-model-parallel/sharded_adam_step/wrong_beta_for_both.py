# hint: wrong from the second step on
def sharded_adam_step(rank, size, parameters, gradients, state):
    lengths = [p.numel() for p in parameters]
    share = -(-sum(lengths) // size)
    room = share * size - sum(lengths)
    line = F.pad(torch.cat([p.flatten() for p in parameters]), (0, room))
    gradient = F.pad(torch.cat([g.flatten() for g in gradients]), (0, room))
    dist.all_reduce(gradient)
    mine = slice(rank * share, (rank + 1) * share)
    g = gradient[mine] / size
    t = state["t"] = state.get("t", 0) + 1
    state["m"] = 0.9 * state.get("m", torch.zeros_like(g)) + 0.1 * g
    state["v"] = 0.9 * state.get("v", torch.zeros_like(g)) + 0.1 * g * g
    m, v = state["m"] / (1 - 0.9**t), state["v"] / (1 - 0.9**t)
    pieces = [torch.empty_like(g) for _ in range(size)]
    dist.all_gather(pieces, line[mine] - 1e-3 * m / (v.sqrt() + 1e-8))
    line = torch.cat(pieces)[: sum(lengths)]
    for p, piece in zip(parameters, line.split(lengths)):
        p.copy_(piece.view_as(p))
