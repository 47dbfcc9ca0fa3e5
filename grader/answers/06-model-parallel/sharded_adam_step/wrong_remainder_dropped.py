# hint: elements left out
def sharded_adam_step(rank, size, parameters, gradients, state):
    step = state["step"] = state.get("step", 0) + 1
    weights = torch.cat([p.flatten() for p in parameters])
    gradient = torch.cat([g.flatten() for g in gradients])
    share = len(weights) // size
    own = slice(rank * share, (rank + 1) * share)
    dist.all_reduce(gradient)
    gradient = gradient[own] / size
    m, v = state.get("m", torch.zeros(share)), state.get("v", torch.zeros(share))
    state["m"] = m = 0.9 * m + 0.1 * gradient
    state["v"] = v = 0.999 * v + 0.001 * gradient**2
    piece = weights[own] - 1e-3 * (m / (1 - 0.9**step)) / ((v / (1 - 0.999**step)).sqrt() + 1e-8)
    dist.all_gather(list(weights[: size * share].split(share)), piece)
    for p, new in zip(parameters, weights.split([p.numel() for p in parameters])):
        p.copy_(new.view_as(p))
