def pipeline_step(rank, size, stage, batch, targets, microbatches):
    saved = []
    total = 0.0
    for m in range(microbatches):
        if rank == 0:
            x = torch.chunk(batch, microbatches)[m]
        else:
            x = told_buffer(rank - 1, rank)
            dist.recv(x, rank - 1)
            x.requires_grad_(True)
        y = stage(x)
        if rank < size - 1:
            tell_shape(rank, rank + 1, y)
            dist.send(y.detach(), rank + 1)
        else:
            y = nn.functional.mse_loss(y, targets.chunk(microbatches)[m]) / microbatches
            total += y.item()
        saved.append((x, y))
    for x, y in reversed(saved):
        gradient = None
        if rank < size - 1:
            gradient = torch.empty_like(y)
            dist.recv(gradient, rank + 1)
        if y.requires_grad:
            y.backward(gradient)
        if rank > 0:
            dist.send(x.grad, rank - 1)
    return total if rank == size - 1 else None
