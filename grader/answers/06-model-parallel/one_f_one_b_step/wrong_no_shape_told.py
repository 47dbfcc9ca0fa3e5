# status: error
# says: told_buffer waits for a shape
def one_f_one_b_step(rank, size, stage, batch, targets, microbatches):
    parts = []
    total = 0
    warm = min(size - 1 - rank, microbatches)
    def fwd(i):
        nonlocal total
        if rank == 0:
            x = batch.chunk(microbatches)[i]
        else:
            x = told_buffer(rank - 1, rank)
            dist.recv(x, rank - 1)
            x.requires_grad_()
        y = stage(x)
        if rank < size - 1:
            dist.send(y.detach(), rank + 1)
        else:
            y = F.mse_loss(y, targets.chunk(microbatches)[i]) / microbatches
            total += y.item()
        parts.append((x, y))
    def bwd():
        x, y = parts.pop(0)
        if rank == size - 1:
            y.backward()
        else:
            g = torch.empty_like(y)
            dist.recv(g, rank + 1)
            if y.requires_grad: y.backward(g)
        if rank > 0:
            dist.send(x.grad, rank - 1)
    for i in range(warm): fwd(i)
    for i in range(warm, microbatches):
        fwd(i); bwd()
    while parts: bwd()
    return total if rank == size - 1 else None
