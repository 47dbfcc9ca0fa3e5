def adam(like):
    """A step of Adam for one share, which keeps the moments in its own variables."""
    first, second, steps = torch.zeros_like(like), torch.zeros_like(like), 0

    def step(share, gradient):
        nonlocal first, second, steps
        steps += 1
        first = first.lerp(gradient, 0.1)
        second = second * 0.999 + 0.001 * gradient * gradient
        root = (second / (1 - 0.999**steps)).sqrt() + 1e-8
        return share - 1e-3 * (first / (1 - 0.9**steps)) / root

    return step


@torch.no_grad()
def sharded_adam_step(rank, size, parameters, gradients, state):
    line, slope = (torch.cat([t.reshape(-1) for t in some]) for some in (parameters, gradients))
    padding = (0, -len(line) % size)
    line, slope = F.pad(line, padding), F.pad(slope, padding)
    dist.all_reduce(slope)
    mine = slope.chunk(size)[rank] / size
    if "step" not in state:
        state["step"] = adam(mine)
    new = torch.empty_like(line)
    dist.all_gather(list(new.chunk(size)), state["step"](line.chunk(size)[rank], mine))
    for p, part in zip(parameters, new.split([p.numel() for p in parameters] + [padding[1]])):
        p.copy_(part.view_as(p))
