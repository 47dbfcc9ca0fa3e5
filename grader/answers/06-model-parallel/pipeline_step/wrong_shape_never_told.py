# status: error
# says: has not told rank
def pipeline_step(rank, size, stage, batch, targets, microbatches):
    if rank > 0:
        batch = told_buffer(rank - 1, rank)
        dist.recv(batch, rank - 1)
    output = stage(batch)
    if rank < size - 1:
        dist.send(output.detach(), rank + 1)
    return None
