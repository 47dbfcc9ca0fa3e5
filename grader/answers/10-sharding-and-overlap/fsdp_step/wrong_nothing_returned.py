# hint: nothing returned
# says: where a tuple of 2 items was expected
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
    kept, x = [], inputs
    for piece, shape in zip(pieces, shapes):
        kept.append(x)
        x = layer(x, *full_of(size, piece, shape))
    loss = F.mse_loss(x, targets).item()
    down = 2 * (x - targets) / x.numel()
    gradients = []
    for i in range(len(pieces) - 1, -1, -1):
        leaves = [t.detach().requires_grad_() for t in (kept[i], *full_of(size, pieces[i], shapes[i]))]
        down, *grads = torch.autograd.grad(layer(*leaves), leaves, down)
        del leaves
        mine = torch.empty_like(pieces[i])
        dist.reduce_scatter(mine, pieces_of(size, grads))
        gradients.insert(0, mine / size)
    pass
