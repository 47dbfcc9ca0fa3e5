# hint: float32 in between
def stage_forward(rank, size, stage, inputs):
    if rank > 0:
        buffer = torch.empty(inputs.shape)
        dist.recv(buffer, rank - 1)
        with torch.no_grad():
            inputs.copy_(buffer)
    output = stage(inputs)
    if rank < size - 1:
        dist.send(output.detach().float(), rank + 1)
    return output
