# status: wrong
def stage_backward(rank, size, output, inputs, loss):
    if rank == size - 1:
        loss.backward()
    else:
        loss = torch.zeros((), dtype=output.dtype)
        dist.recv(loss, rank + 1)
        (output.sum() * loss).backward()
    if rank > 0:
        dist.send(torch.ones((), dtype=output.dtype), rank - 1)
