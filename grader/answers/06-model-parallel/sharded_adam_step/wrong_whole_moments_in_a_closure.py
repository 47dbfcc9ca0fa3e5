# hint: state not divided
def adam(like):
    first, second, steps = torch.zeros_like(like), torch.zeros_like(like), 0

    def step(line, slope):
        nonlocal steps
        steps += 1
        first.lerp_(slope, 0.1)
        second.mul_(0.999).addcmul_(slope, slope, value=0.001)
        root = (second / (1 - 0.999**steps)).sqrt() + 1e-8
        return line - 1e-3 * (first / (1 - 0.9**steps)) / root

    return step


def sharded_adam_step(rank, size, parameters, gradients, state):
    line, slope = (torch.cat([t.reshape(-1) for t in some]) for some in (parameters, gradients))
    dist.all_reduce(slope)
    if "step" not in state:
        state["step"] = adam(line)
    line = state["step"](line, slope / size)
    for p, part in zip(parameters, line.split([p.numel() for p in parameters])):
        p.copy_(part.view_as(p))
