# hint: state not divided
def sharded_adam_step(rank, size, parameters, gradients, state):
    if not state:
        state.update(t=0, m=[torch.zeros_like(p) for p in parameters])
        state["v"] = [torch.zeros_like(p) for p in parameters]
    state["t"] += 1
    for p, g, m, v in zip(parameters, gradients, state["m"], state["v"]):
        dist.all_reduce(g)
        g /= size
        m.mul_(0.9).add_(g, alpha=0.1)
        v.mul_(0.999).addcmul_(g, g, value=0.001)
        mh, vh = m / (1 - 0.9 ** state["t"]), v / (1 - 0.999 ** state["t"])
        p -= 1e-3 * mh / (vh.sqrt() + 1e-8)
