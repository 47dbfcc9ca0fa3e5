def one_f_one_b_step(rank, size, stage, batch, targets, microbatches):
    k, first, last = microbatches, rank == 0, rank == size - 1
    xs, ts = batch.chunk(k) if first else None, targets.chunk(k) if last else None
    way, open_, total, m, b = [], [], 0.0, 0, 0
    fill = min(size - 1 - rank, k)
    for p in "F" * fill + "FB" * (k - fill) + "B" * fill:
        if p == "F":
            if first:
                x = xs[m]
            else:
                x = told_buffer(rank - 1, rank)
                dist.recv(x, rank - 1)
            with torch.no_grad():
                y = stage(x)
            if not last:
                tell_shape(rank, rank + 1, y)
                open_.append(dist.isend(y, rank + 1))
            way.append(x)
            m += 1
        else:
            z = way.pop(0).detach().requires_grad_()
            y = stage(z)
            g = None
            if last:
                y = F.mse_loss(y, ts[b]) / k
                total += y.item()
            else:
                g = torch.empty_like(y)
                dist.recv(g, rank + 1)
            y.backward(g)
            b += 1
            if not first:
                open_.append(dist.isend(z.grad, rank - 1))
    [r.wait() for r in open_]
    return total if last else None
