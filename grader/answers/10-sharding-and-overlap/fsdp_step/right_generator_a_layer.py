def cut(rank, size, tensors):
    line = torch.cat([tensor.reshape(-1) for tensor in tensors])
    length = math.ceil(len(line) / size)
    mine = line[rank * length : (rank + 1) * length]
    piece = line.new_zeros(length)
    piece[: len(mine)] = mine
    return piece


def put_together(rank, size, piece, shapes):
    everybody = [torch.empty_like(piece) for _ in range(size)]
    dist.all_gather(everybody, piece)
    lengths = [math.prod(shape) for shape in shapes]
    parts = torch.cat(everybody)[: sum(lengths)].split(lengths)
    return list(map(torch.Tensor.view, parts, shapes))


def one_layer(rank, size, piece, shape):
    """A generator: sent x, gives y; sent the gradient of y, gives that of x; then the piece."""
    x = yield
    with torch.no_grad():
        y = layer(x, *put_together(rank, size, piece, shape))
    down = yield y
    x = x.detach().requires_grad_()
    p = [t.requires_grad_() for t in put_together(rank, size, piece, shape)]
    layer(x, *p).backward(down)
    full = [t.grad for t in p]
    del p
    mine = torch.empty_like(piece)
    dist.reduce_scatter(mine, [cut(r, size, full) for r in range(size)])
    mine /= size
    yield x.grad
    yield mine

def fsdp_step(rank, size, pieces, shapes, inputs, targets):
    net = [one_layer(rank, size, p, s) for p, s in zip(pieces, shapes, strict=True)]
    x = inputs
    for g in net:
        next(g)
        x = g.send(x)
    x = x.clone().requires_grad_()
    loss = F.mse_loss(x, targets)
    loss.backward()
    down = x.grad
    for g in net[::-1]:
        down = g.send(down)
    return loss.item(), [next(g) for g in net]
