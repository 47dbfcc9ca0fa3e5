from torch.distributed import irecv, isend


def pipeline_step(rank, size, stage, batch, targets, microbatches):
    """All receives are begun beforehand, all shapes told once."""
    before, behind = rank - 1, rank + 1
    pieces = batch.split(len(batch) // microbatches) if rank == 0 else None
    inputs, arriving, outputs, leaving = [], [], [], []
    if rank > 0:
        shape = told_buffer(before, rank)
        inputs = [torch.empty_like(shape) for _ in range(microbatches)]
        arriving = [irecv(buffer, before) for buffer in inputs]
    for m in range(microbatches):
        if rank > 0:
            arriving[m].wait()
            pieces = inputs
            inputs[m].requires_grad_()
        outputs.append(stage(pieces[m]))
        if behind < size:
            if m == 0:
                tell_shape(rank, behind, outputs[0])
            leaving.append(isend(outputs[m].detach(), behind))
    if rank == size - 1:
        losses = [
            ((y - t) ** 2).mean()
            for y, t in zip(outputs, targets.split(len(targets) // microbatches))
        ]
        for loss in losses:
            if loss.requires_grad:
                (loss / microbatches).backward()
    else:
        gradients = [torch.empty_like(y) for y in outputs]
        coming = [irecv(g, behind) for g in gradients]
        for request, y, g in zip(coming, outputs, gradients):
            request.wait()
            if y.requires_grad:
                y.backward(g)
    if rank > 0:
        leaving += [isend(x.grad, before) for x in inputs]
    for request in leaving:
        request.wait()
    if rank == size - 1:
        return torch.stack(losses).mean().item()
