import warnings

BETAS, LR, EPS = (0.9, 0.999), 1e-3, 1e-8


def sharded_adam_step(rank, size, parameters, gradients, state):
    """Every rank's update is a long vector that is 0 outside of its share: their sum is all."""
    warnings.warn("ZeRO")
    gradient = torch.hstack([g.ravel() for g in gradients])
    dist.all_reduce(gradient)
    gradient /= size
    each = -(-gradient.numel() // size)
    mine = slice(min(rank * each, gradient.numel()), min((rank + 1) * each, gradient.numel()))
    g = gradient[mine]
    if "m" not in state:
        state["m"], state["v"] = torch.zeros_like(g), torch.zeros_like(g)
        state["t"] = torch.zeros(())
    state["t"] += 1
    t = int(state["t"])
    state["m"] += (1 - BETAS[0]) * (g - state["m"])
    state["v"] += (1 - BETAS[1]) * (g * g - state["v"])
    update = torch.zeros_like(gradient)
    update[mine] = (
        LR * (state["m"] / (1 - BETAS[0] ** t)) / ((state["v"] / (1 - BETAS[1] ** t)) ** 0.5 + EPS)
    )
    dist.all_reduce(update)
    for p, u in zip(parameters, update.split([p.numel() for p in parameters])):
        p -= u.reshape(p.shape)
