class Share:
    """A rank's part of the line of all elements: shares differ by at most one."""

    def __init__(self, rank, size, n):
        self.begin, self.end = rank * n // size, (rank + 1) * n // size


def sharded_adam_step(rank, size, parameters, gradients, state):
    print("step", state.get("step", 0))
    sizes = [p.numel() for p in parameters]
    line = torch.cat([p.reshape(-1) for p in parameters])
    slope = torch.cat([g.reshape(-1) for g in gradients])
    shares = [Share(r, size, len(line)) for r in range(size)]
    for owner, share in enumerate(shares):
        part = slope[share.begin : share.end].clone()
        dist.reduce(part, owner)
        if owner == rank:
            step(line[share.begin : share.end], part / size, state)
    for owner, share in enumerate(shares):
        part = line[share.begin : share.end].clone()
        dist.broadcast(part, owner)
        line[share.begin : share.end] = part
    for parameter, piece in zip(parameters, line.split(sizes)):
        parameter.view(-1).copy_(piece)


def step(weights, gradient, state):
    state["step"] = state.get("step", 0) + 1
    for name, beta, value in (("first", 0.9, gradient), ("second", 0.999, gradient.square())):
        before = state.get(name, torch.zeros_like(gradient))
        state[name] = beta * before + (1 - beta) * value
    first = state["first"] / (1 - 0.9 ** state["step"])
    second = state["second"] / (1 - 0.999 ** state["step"])
    weights -= 1e-3 * first / (second.sqrt() + 1e-8)
