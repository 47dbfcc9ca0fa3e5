# hint: not the stage's output
# says: returned a tensor of shape
def stage_forward(rank, size, stage, inputs):
    if rank > 0:
        dist.recv(inputs.data, src=rank - 1)
    output = stage(inputs)
    if rank < size - 1:
        dist.send(output.detach(), dst=rank + 1)
    return output.flatten()
