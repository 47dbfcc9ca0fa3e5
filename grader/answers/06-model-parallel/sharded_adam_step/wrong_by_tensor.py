# hint: uneven shares
def sharded_adam_step(rank, size, parameters, gradients, state):
    state["t"] = state.get("t", 0) + 1
    for number, (p, g) in enumerate(zip(parameters, gradients)):
        owner = number % size
        dist.all_reduce(g)
        g /= size
        if rank == owner:
            if number not in state:
                state[number] = torch.zeros_like(p), torch.zeros_like(p)
            m, v = state[number]
            m.mul_(0.9).add_(g, alpha=0.1)
            v.mul_(0.999).addcmul_(g, g, value=0.001)
            mh, vh = m / (1 - 0.9 ** state["t"]), v / (1 - 0.999 ** state["t"])
            p -= 1e-3 * mh / (vh.sqrt() + 1e-8)
        dist.broadcast(p, owner)
