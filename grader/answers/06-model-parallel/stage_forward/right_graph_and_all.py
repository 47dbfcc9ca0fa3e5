def stage_forward(rank, size, stage, inputs):
    if rank > 0:
        dist.recv(inputs.detach(), src=rank - 1)
    output = stage(inputs)
    if rank < size - 1:
        with torch.no_grad():
            dist.send(output.clone(), dst=rank + 1)
    return output
