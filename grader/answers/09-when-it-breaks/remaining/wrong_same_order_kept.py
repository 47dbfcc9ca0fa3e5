# says: remaining returns
_generator = torch.Generator()


def remaining(n, epoch, seed, done, rank, size):
    if _generator.initial_seed() != seed + epoch:
        _generator.manual_seed(seed + epoch)
    order = torch.randperm(n, generator=_generator).tolist()
    return order[done:][rank::size]
