from torch.distributed import irecv, isend


class Ring:
    def __init__(self, rank, size):
        self.rank, self.size = rank, size

    def __mod__(self, number):
        return number % self.size

    def pass_on(self, chunks, number, combine):
        arriving = torch.empty_like(chunks[self % (number - 1)])
        pending = isend(chunks[self % number], self % (self.rank + 1)), irecv(
            arriving, self % (self.rank - 1)
        )
        for request in pending:
            request.wait()
        combine(chunks[self % (number - 1)], arriving)


def ring_all_reduce(rank, size, tensor):
    ring = Ring(rank, size)
    shape = tensor.shape
    flat = tensor.reshape(-1)
    padding = -len(flat) % size
    flat = torch.cat([flat, flat.new_zeros(padding)])
    chunks = [chunk.clone() for chunk in flat.view(size, -1)] if len(flat) else [flat] * size
    for step in range(size - 1):
        ring.pass_on(chunks, rank - step, lambda chunk, new: chunk.add_(new))
    for step in range(size - 1):
        ring.pass_on(chunks, rank + 1 - step, lambda chunk, new: chunk.copy_(new))
    return torch.cat(chunks)[: flat.numel() - padding].view(shape)
