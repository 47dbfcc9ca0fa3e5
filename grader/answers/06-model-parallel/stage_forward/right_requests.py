def stage_forward(rank, size, stage, inputs):
    if rank:
        dist.irecv(inputs, rank - 1).wait()
    output = stage(inputs)
    if rank + 1 < size:
        dist.isend(output.detach(), rank + 1).wait()
    return output
