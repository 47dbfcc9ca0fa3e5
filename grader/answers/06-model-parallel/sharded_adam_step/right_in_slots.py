class Moments:
    __slots__ = ("first", "second", "steps")

    def __init__(self, like):
        self.first, self.second, self.steps = torch.zeros_like(like), torch.zeros_like(like), 0

    def moved(self, share, gradient):
        self.steps += 1
        self.first.lerp_(gradient, 0.1)
        self.second.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
        root = (self.second / (1 - 0.999**self.steps)).sqrt() + 1e-8
        return share - 1e-3 * (self.first / (1 - 0.9**self.steps)) / root


def sharded_adam_step(rank, size, parameters, gradients, state):
    count = sum(p.numel() for p in parameters)
    share = -(-count // size)
    line = F.pad(torch.cat([p.reshape(-1) for p in parameters]), (0, share * size - count))
    slope = F.pad(torch.cat([g.reshape(-1) for g in gradients]), (0, share * size - count))
    mine = torch.empty(share, dtype=slope.dtype)
    dist.reduce_scatter(mine, list(slope.chunk(size)))
    if "moved" not in state:
        state["moved"] = Moments(mine).moved
    own = state["moved"](line.chunk(size)[rank], mine / size)
    dist.all_gather(list(line.chunk(size)), own)
    for p, part in zip(parameters, line[:count].split([p.numel() for p in parameters])):
        p.copy_(part.view_as(p))
