# says: not for a collective
def stage_forward(rank, size, stage, inputs):
    shapes = [None] * size
    output = stage(inputs) if rank == 0 else None
    for source in range(size - 1):
        dist.all_gather_object(shapes, None if output is None else (output.shape, output.dtype))
        shape, dtype = shapes[source]
        message = output.detach() if rank == source else torch.empty(shape, dtype=dtype)
        dist.broadcast(message, source)
        if rank == source + 1:
            inputs.data.copy_(message)
            output = stage(inputs)
    return output
