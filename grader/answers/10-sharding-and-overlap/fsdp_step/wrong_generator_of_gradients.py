# hint: nothing computed yet
def _cut(r, size, ts):
    line = torch.cat([t.reshape(-1) for t in ts])
    k = -(-len(line) // size)
    return F.pad(line, (0, k * size - len(line)))[r * k : r * k + k].contiguous()


def _whole(size, piece, shapes):
    every = [torch.empty_like(piece) for _ in range(size)]
    dist.all_gather(every, piece)
    ns = [math.prod(s) for s in shapes]
    return [
        p.view(s).detach().requires_grad_()
        for p, s in zip(torch.cat(every)[: sum(ns)].split(ns), shapes)
    ]


def fsdp_step(rank, size, pieces, shapes, inputs, targets):
    xs, x = [], inputs
    with torch.no_grad():
        for p, s in zip(pieces, shapes):
            xs.append(x)
            x = layer(x, *_whole(size, p, s))
    out = x.requires_grad_()
    loss = F.mse_loss(out, targets)
    (down,) = torch.autograd.grad(loss, out)
    grads = [None] * len(pieces)
    for i in reversed(range(len(pieces))):
        x = xs[i].detach().requires_grad_()
        w, b = _whole(size, pieces[i], shapes[i])
        with torch.enable_grad():
            y = layer(x, w, b)
        down, gw, gb = torch.autograd.grad(y, [x, w, b], down)
        mine = torch.empty_like(pieces[i])
        dist.reduce_scatter(mine, [_cut(r, size, [gw, gb]) for r in range(size)])
        grads[i] = mine / size
    return loss.item(), (g for g in grads)
