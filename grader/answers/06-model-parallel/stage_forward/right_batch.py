import warnings


class Neighbours:
    def __init__(self, rank, size):
        self.rank, self.size = rank, size

    def move(self, call, tensor, peer):
        for request in dist.batch_isend_irecv([dist.P2POp(call, tensor, peer)]):
            request.wait()


def stage_forward(rank, size, stage, inputs):
    warnings.warn("forward")
    neighbours = Neighbours(rank, size)
    if rank > 0:
        neighbours.move(dist.irecv, inputs.data, rank - 1)
    output = stage(inputs)
    if rank < size - 1:
        neighbours.move(dist.isend, output.detach().contiguous(), rank + 1)
    return output
