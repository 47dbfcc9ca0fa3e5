def one_f_one_b_step(rank, size, stage, batch, targets, microbatches, sends=None):
    """Each micro-batch's frame on the stack of an ExitStack-like list of closures."""
    later, total = [], []
    sends = []

    def forward(m):
        x = batch.chunk(microbatches)[m] if rank == 0 else told_buffer(rank - 1, rank)
        if rank:
            dist.batch_isend_irecv([dist.P2POp(dist.irecv, x, rank - 1)])[0].wait()
            x.requires_grad_()
        y = stage(x)
        if rank == size - 1:
            loss = F.mse_loss(y, targets.chunk(microbatches)[m])
            total.append(loss.item() / microbatches)
        else:
            tell_shape(rank, rank + 1, y)
            sends.extend(dist.batch_isend_irecv([dist.P2POp(dist.isend, y.detach(), rank + 1)]))

        def back():
            if rank == size - 1:
                (loss / microbatches).backward()
            else:
                g = torch.empty_like(y)
                dist.batch_isend_irecv([dist.P2POp(dist.irecv, g, rank + 1)])[0].wait()
                y.backward(g) if y.requires_grad else None
            if rank:
                sends.extend(dist.batch_isend_irecv([dist.P2POp(dist.isend, x.grad, rank - 1)]))

        later.append(back)

    def go(m):
        if m < microbatches:
            forward(m)
            if len(later) >= size - rank:
                later.pop(0)()
            go(m + 1)

    go(0)
    while later:
        later.pop(0)()
    [s.wait() for s in sends]
    return sum(total) if total else None
