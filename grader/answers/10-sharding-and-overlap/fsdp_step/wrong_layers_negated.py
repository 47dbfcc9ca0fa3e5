# hint: too many layers at once
def fsdp_step(rank, size, pieces, shapes, inputs, targets):
    negated = []

    def gathered(number):
        whole = pieces[number].new_empty(size * pieces[number].numel())
        dist.all_gather_into_tensor(whole, pieces[number])
        rows, columns = shapes[number][0]
        parts = whole[: rows * columns].view(rows, columns), whole[rows * columns :][:rows]
        return [part.requires_grad_() for part in map(torch.clone, parts)]

    x, kept = inputs, []
    for number in range(len(pieces)):
        kept.append(x)
        with torch.no_grad():
            weight, bias = gathered(number)
            x = layer(x, weight, bias)
            negated.append(-weight)
    x.requires_grad_()
    loss = F.mse_loss(x, targets)
    loss.backward()
    down, gradients = x.grad, []
    for number in reversed(range(len(pieces))):
        weight, bias = gathered(number)
        x = kept[number].detach().requires_grad_()
        layer(x, weight, bias).backward(down)
        down = x.grad
        line = torch.cat([weight.grad.view(-1), bias.grad])
        line = F.pad(line, (0, -line.numel() % size))
        gradients.insert(0, torch.empty_like(pieces[number]))
        dist.reduce_scatter_tensor(gradients[0], line / size)
    return loss.item(), gradients
