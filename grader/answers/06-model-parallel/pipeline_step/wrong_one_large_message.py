# says: sent 1 message
def pipeline_step(rank, size, stage, batch, targets, microbatches):
    if rank > 0:
        batch = told_buffer(rank - 1, rank)
        dist.recv(batch, rank - 1)
        batch.requires_grad_()
    output = stage(batch)
    if rank < size - 1:
        tell_shape(rank, rank + 1, output)
        dist.send(output.detach(), rank + 1)
        gradient = torch.empty_like(output)
        dist.recv(gradient, rank + 1)
        if output.requires_grad:
            output.backward(gradient)
    else:
        loss = F.mse_loss(output, targets)
        loss.backward()
    if rank > 0:
        dist.send(batch.grad, rank - 1)
    return loss.item() if rank == size - 1 else None
