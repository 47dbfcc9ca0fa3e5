# hint: no overlap
def pipeline_step(rank, size, stage, batch, targets, microbatches):
    if rank > 0:
        pieces = []
        for _ in range(microbatches):
            pieces.append(told_buffer(rank - 1, rank))
            dist.recv(pieces[-1], rank - 1)
        batch = torch.cat(pieces).requires_grad_()
    output = stage(batch)
    if rank < size - 1:
        pieces = output.detach().chunk(microbatches)
        tell_shape(rank, rank + 1, pieces[0])
        for piece in pieces:
            dist.send(piece.contiguous(), rank + 1)
        gradient = torch.empty_like(output)
        for piece in gradient.chunk(microbatches):
            dist.recv(piece, rank + 1)
        if output.requires_grad:
            output.backward(gradient)
    else:
        loss = F.mse_loss(output, targets)
        loss.backward()
    if rank > 0:
        for piece in batch.grad.chunk(microbatches):
            dist.send(piece.contiguous(), rank - 1)
    return loss.item() if rank == size - 1 else None
