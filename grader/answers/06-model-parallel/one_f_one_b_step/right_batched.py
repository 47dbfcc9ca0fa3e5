# as Megatron-LM does it: what leaves and what arrives between two passes is one batch of calls
def one_f_one_b_step(rank, size, stage, batch, targets, microbatches):
    first, last = rank == 0, rank == size - 1
    parts = iter(batch.chunk(microbatches)) if first else None
    goals = iter(targets.chunk(microbatches)) if last else None
    under_way, total = [], 0.0

    def exchange(send=None, to=None, receive=None, source=None):
        calls = []
        if send is not None:
            calls.append(dist.P2POp(dist.isend, send, to))
        if receive is not None:
            calls.append(dist.P2POp(dist.irecv, receive, source))
        for request in dist.batch_isend_irecv(calls) if calls else []:
            request.wait()

    def fresh():
        return None if first else told_buffer(rank - 1, rank)

    def run(x):
        nonlocal total
        x = next(parts) if first else x.requires_grad_()
        y = stage(x)
        if last:
            y = F.mse_loss(y, next(goals)) / microbatches
            total += y.item()
        else:
            tell_shape(rank, rank + 1, y)
        under_way.append((x, y))
        return None if last else y.detach()

    def back(gradient):
        x, y = under_way.pop(0)
        if y.requires_grad:
            y.backward(gradient)
        return None if first else x.grad

    def wanted():
        return None if last else torch.empty_like(under_way[0][1])

    ahead = min(size - 1 - rank, microbatches)
    for _ in range(ahead):
        x = fresh()
        exchange(receive=x, source=rank - 1)
        exchange(send=run(x), to=rank + 1)
    x = None
    if ahead < microbatches:
        x = fresh()
        exchange(receive=x, source=rank - 1)
    for turn in range(microbatches - ahead):
        out = run(x)
        gradient = wanted()
        exchange(out, rank + 1, gradient, rank + 1)
        out = back(gradient)
        x = fresh() if turn < microbatches - ahead - 1 else None
        exchange(out, rank - 1, x, rank - 1)
    for _ in range(ahead):
        gradient = wanted()
        exchange(receive=gradient, source=rank + 1)
        exchange(send=back(gradient), to=rank - 1)
    return total if last else None
