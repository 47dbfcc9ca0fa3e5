import warnings


class Pair:
    def __init__(self, rank):
        self.partner = {0: 1, 1: -1}[rank % 2] + rank

    def swap(self, tensor):
        buffer = tensor.clone()
        request = dist.isend(tensor.clone(), self.partner)
        dist.recv(buffer)
        request.wait()
        return buffer


def exchange(rank, size, tensor):
    warnings.warn("swapping")
    return Pair(rank).swap(tensor)
