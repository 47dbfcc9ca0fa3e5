def one_f_one_b_step(rank, size, stage, batch, targets, microbatches):
    first, last = rank == 0, rank == size - 1
    xs = {} if not first else dict(enumerate(batch.chunk(microbatches)))
    ys, open_sends, loss = {}, {}, 0.0
    ahead = min(size - 1 - rank, microbatches)
    order = [("F", m) for m in range(ahead)]
    for m in range(ahead, microbatches):
        order += [("F", m), ("B", m - ahead)]
    order += [("B", m) for m in range(microbatches - ahead, microbatches)]
    for kind, m in order:
        if kind == "F":
            if not first:
                xs[m] = told_buffer(rank - 1, rank).requires_grad_()
                dist.recv(xs[m], src=rank - 1)
            ys[m] = stage(xs[m])
            if last:
                ys[m] = F.mse_loss(ys[m], targets.chunk(microbatches)[m]) / microbatches
                loss += ys[m].item()
            else:
                tell_shape(rank, rank + 1, ys[m])
                open_sends[m] = dist.isend(ys[m].detach(), dst=rank + 1)
            continue
        gradient = None
        if not last:
            gradient = torch.empty_like(ys[m])
            dist.recv(gradient, src=rank + 1)
            open_sends.pop(m).wait()
        if ys[m].requires_grad:
            ys[m].backward(gradient)
        if not first:
            dist.send(xs[m].grad, dst=rank - 1)
        del xs[m], ys[m]
    return loss if last else None
