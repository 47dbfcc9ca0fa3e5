# hint: too many layers at once
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
    # gathers the next layer before the last one is let go: three for a moment
    L = len(pieces)
    kept, x, two = [], inputs, []
    with torch.no_grad():
        for i in range(L):
            two.append(full_of(size, pieces[i], shapes[i]))
            if len(two) > 2:
                two.pop(0)
            kept.append(x)
            x = layer(x, *two[-1])
    two.clear()
    loss = F.mse_loss(x, targets).item()
    down = 2 * (x - targets) / x.numel()
    gradients = []
    for i in range(L - 1, -1, -1):
        leaf = kept[i].detach().requires_grad_()
        weight, bias = (t.requires_grad_() for t in full_of(size, pieces[i], shapes[i]))
        layer(leaf, weight, bias).backward(down)
        down = leaf.grad
        mine = torch.empty_like(pieces[i])
        dist.reduce_scatter(mine, pieces_of(size, [weight.grad, bias.grad]))
        gradients.insert(0, mine / size)
        del weight, bias
    return loss, gradients
