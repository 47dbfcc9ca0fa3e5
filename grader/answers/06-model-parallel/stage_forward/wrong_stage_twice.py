# status: wrong
def stage_forward(rank, size, stage, inputs):
    if rank > 0:
        dist.recv(inputs, rank - 1)
    if rank < size - 1:
        dist.send(stage(inputs).detach(), rank + 1)
    return stage(inputs) * 2
