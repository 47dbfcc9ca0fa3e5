def full_of(size, piece, shapes):
    parts = [torch.empty_like(piece) for _ in range(size)]
    dist.all_gather(parts, piece)
    lengths = [math.prod(shape) for shape in shapes]
    line = torch.cat(parts)[: sum(lengths)]
    return [part.view(shape) for part, shape in zip(line.split(lengths), shapes)]


def pieces_of(size, tensors):
    line = torch.cat([t.reshape(-1) for t in tensors])
    line = F.pad(line, (0, -len(line) % size))
    return list(line.chunk(size))


def fsdp_step(rank, size, pieces, shapes, inputs, targets):
    # one reusable buffer per layer size, refilled
    acts = [inputs]
    L = len(pieces)
    most = max(len(p) for p in pieces) * size
    room = torch.empty(most, dtype=inputs.dtype)

    def load(i):
        n = len(pieces[i])
        dist.all_gather(list(room[: n * size].split(n)), pieces[i])
        (o, k), _ = shapes[i]
        return room[: o * k].view(o, k), room[o * k: o * k + o]

    for i in range(L):
        acts.append(layer(acts[-1], *load(i)))
    y = acts[-1].clone().requires_grad_()
    loss = F.mse_loss(y, targets)
    loss.backward()
    g, grads = y.grad, []
    for i in reversed(range(L)):
        w, b = load(i)
        x = acts[i].clone().requires_grad_()
        lw, lb = w.clone().requires_grad_(), b.clone().requires_grad_()
        layer(x, lw, lb).backward(g)
        g = x.grad
        out = torch.empty_like(pieces[i])
        dist.reduce_scatter(out, pieces_of(size, [lw.grad, lb.grad]), op=dist.ReduceOp.SUM)
        grads.append(out / size)
        del w, b, lw, lb
    return loss.item(), grads[::-1]
