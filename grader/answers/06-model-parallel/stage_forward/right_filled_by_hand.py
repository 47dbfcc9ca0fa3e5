from torch.distributed import recv, send


def stage_forward(rank, size, stage, inputs):
    if rank > 0:
        buffer = torch.empty(inputs.shape, dtype=inputs.dtype)
        recv(buffer)
        with torch.no_grad():
            inputs.copy_(buffer)
    output = stage(inputs)
    if rank != size - 1:
        send(output.data, rank + 1)
    return output
