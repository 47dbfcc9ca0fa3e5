# status: error
# hint: split for chunk
# says: batch.split(microbatches)
def pipeline_step(rank, size, stage, batch, targets, microbatches):
    inputs, outputs, losses = [], [], []
    for m in range(microbatches):
        if rank == 0:
            x = batch.split(microbatches)[m]
        else:
            x = told_buffer(rank - 1, rank).requires_grad_()
            dist.recv(x, rank - 1)
        y = stage(x)
        if rank < size - 1:
            tell_shape(rank, rank + 1, y)
            dist.send(y.detach(), rank + 1)
        inputs.append(x)
        outputs.append(y)
    for m in range(microbatches):
        if rank == size - 1:
            loss = F.mse_loss(outputs[m], targets.split(microbatches)[m]) / microbatches
            losses.append(loss.item())
            if loss.requires_grad:
                loss.backward()
        else:
            gradient = torch.empty_like(outputs[m])
            dist.recv(gradient, rank + 1)
            if outputs[m].requires_grad:
                outputs[m].backward(gradient)
        if rank > 0:
            dist.send(inputs[m].grad, rank - 1)
    return sum(losses) if rank == size - 1 else None
