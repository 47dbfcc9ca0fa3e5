# hint: order of traffic
def fsdp_step(rank, size, pieces, shapes, inputs, targets):
    def gathered(number):
        parts = [torch.empty_like(pieces[number]) for _ in range(size)]
        dist.all_gather(parts, pieces[number])
        line, (out, into) = torch.cat(parts), shapes[number][0]
        return line[: out * into].view(out, into), line[out * into :][:out]

    outputs = [inputs]
    for number in range(len(pieces)):
        outputs.append(layer(outputs[-1], *gathered(number)))
    loss = F.mse_loss(outputs[-1], targets).item()
    slope = 2 * (outputs[-1] - targets) / targets.numel()
    lines = [None] * len(pieces)
    for number in reversed(range(len(pieces))):
        slope = slope * (1 - outputs[number + 1] ** 2)
        line = torch.cat([(slope.T @ outputs[number]).flatten(), slope.sum(0)])
        lines[number] = F.pad(line, (0, size * len(pieces[number]) - len(line)))
        slope = slope @ gathered(number)[0]
    gradients = [torch.empty_like(piece) for piece in pieces]
    for gradient, line in zip(gradients, lines):
        dist.reduce_scatter(gradient, list(line.view(size, -1)))
        gradient /= size
    return loss, gradients
