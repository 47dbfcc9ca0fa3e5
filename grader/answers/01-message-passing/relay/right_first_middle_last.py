import warnings


class Link:
    """A rank's place in the chain."""

    def __init__(self, rank, size):
        self.before = None if rank == 0 else rank - 1
        self.after = None if rank == size - 1 else rank + 1

    def take(self, like):
        if self.before is None:
            return torch.zeros_like(like)
        buffer = torch.empty_like(like)
        dist.recv(buffer)
        return buffer

    def give(self, tensor):
        if self.after is not None:
            dist.send(tensor, self.after)


def relay(rank, size, tensor):
    warnings.warn("relaying")
    link = Link(rank, size)
    result = link.take(tensor) + tensor
    link.give(result)
    return result
