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
    x, kept = inputs, []
    for piece, shape in zip(pieces, shapes):
        weight, bias = full_of(size, piece, shape)
        kept.append(x)
        x = layer(x, weight, bias)
        weight.untyped_storage().resize_(0)
    loss = F.mse_loss(x, targets)
    down = 2 * (x - targets) / x.numel()
    gradients = []
    for i in reversed(range(len(pieces))):
        weight, bias = full_of(size, pieces[i], shapes[i])
        _, pull = torch.func.vjp(layer, kept[i], weight, bias)
        down, *full = pull(down)
        del pull
        mine = torch.empty_like(pieces[i])
        dist.reduce_scatter(mine, pieces_of(size, full))
        gradients.insert(0, mine.div(size))
        weight.untyped_storage().resize_(0)
    return loss.item(), gradients
