# status: error
# says: told_buffer waits for a shape
def pipeline_step(rank, size, stage, batch, targets, microbatches):
    for i in range(microbatches):
        if rank == 0:
            x = batch.chunk(microbatches)[i]
        else:
            x = told_buffer(rank - 1, rank)
            dist.recv(x, rank - 1)
        y = stage(x)
        if rank < size - 1:
            dist.send(y.detach(), rank + 1)
