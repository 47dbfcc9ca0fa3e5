# hint: kept elsewhere
KEPT = {}


def sharded_adam_step(rank, size, parameters, gradients, state):
    first = id(parameters[0])
    if not state or first not in KEPT:
        KEPT[first] = [(torch.zeros_like(p), torch.zeros_like(p)) for p in parameters]
    t = state["t"] = state.get("t", 0) + 1
    for p, g, (m, v) in zip(parameters, gradients, KEPT[first]):
        dist.all_reduce(g)
        g /= size
        m.mul_(0.9).add_(g, alpha=0.1)
        v.mul_(0.999).addcmul_(g, g, value=0.001)
        p -= 1e-3 * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)).sqrt() + 1e-8)
