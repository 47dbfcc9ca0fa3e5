def pipeline_step(rank, size, stage, batch, targets, microbatches):
    inputs, outputs = [], []
    for m in range(microbatches):
        if rank == 0:
            inputs.append(batch.chunk(microbatches)[m])
        else:
            buffer = told_buffer(rank - 1, rank)
            dist.irecv(buffer, rank - 1).wait()
            inputs.append(buffer.requires_grad_())
        outputs.append(stage(inputs[-1]))
        if rank < size - 1:
            tell_shape(rank, rank + 1, outputs[-1])
            dist.isend(outputs[-1].detach(), rank + 1).wait()
    loss = None
    if rank == size - 1:
        loss = F.mse_loss(torch.cat(outputs), targets)
        if loss.requires_grad:
            loss.backward()
    for x, y in zip(inputs, outputs):
        if rank < size - 1:
            g = torch.empty_like(y)
            dist.recv(g, rank + 1)
            if y.requires_grad:
                y.backward(g)
        if rank > 0:
            dist.send(x.grad, rank - 1)
    return loss and loss.item()
