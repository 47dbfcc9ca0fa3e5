import itertools


def adam(count, dtype):
    """Is sent a share of the parameters and gradients, gives back the share after the step."""
    moments = torch.zeros(2, count, dtype=dtype)
    share, gradient = yield
    for step in itertools.count(1):
        moments[0].mul_(0.9).add_(gradient, alpha=0.1)
        moments[1].mul_(0.999).addcmul_(gradient, gradient, value=0.001)
        root = (moments[1] / (1 - 0.999**step)).sqrt() + 1e-8
        share, gradient = yield share - 1e-3 * (moments[0] / (1 - 0.9**step)) / root


def sharded_adam_step(rank, size, parameters, gradients, state):
    with torch.no_grad():
        line = torch.cat([p.reshape(-1) for p in parameters])
        slope = torch.cat([g.reshape(-1) for g in gradients]) / size
        dist.all_reduce(slope)
        shares = line.tensor_split(size)
        if not state:
            state["adam"] = adam(shares[rank].numel(), line.dtype)
            next(state["adam"])
        new = [torch.empty_like(share) for share in shares]
        new[rank] = state["adam"].send((shares[rank], slope.tensor_split(size)[rank]))
        for source, share in enumerate(new):
            dist.broadcast(share, source)
        parts = torch.cat(new).split([p.numel() for p in parameters])
        for p, part in zip(parameters, parts):
            p.copy_(part.view_as(p))
