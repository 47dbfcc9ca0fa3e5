# hint: run before the receive
def stage_forward(rank, size, stage, inputs):
    output = stage(inputs)
    if rank > 0:
        dist.recv(inputs, src=rank - 1)
    if rank < size - 1:
        dist.send(output.detach(), dst=rank + 1)
    return output
