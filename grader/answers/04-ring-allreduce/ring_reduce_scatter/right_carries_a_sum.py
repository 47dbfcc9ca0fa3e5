import warnings


class Carrier:
    """Carries one sum along; the chunks on the way stay as they are."""

    def __init__(self, rank, size):
        warnings.warn("carrying")
        self.left, self.right, self.size = rank - 1 if rank else size - 1, (rank + 1) % size, size
        self.number = rank

    def hop(self, carried, chunks):
        buffer = torch.empty_like(carried)
        pending = [dist.irecv(buffer, self.left), dist.isend(carried, self.right)]
        [request.wait() for request in pending]
        self.number = (self.number - 1) % self.size
        return buffer + chunks[self.number]


def ring_reduce_scatter(rank, size, chunks):
    if size == 1:
        return chunks
    carrier, carried = Carrier(rank, size), chunks[rank].clone()
    for _ in range(size - 1):
        carried = carrier.hop(carried, chunks)
    chunks[carrier.number].copy_(carried)
    return chunks
