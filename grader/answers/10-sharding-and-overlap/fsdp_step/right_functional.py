from torch.distributed import _functional_collectives as functional


def fsdp_step(rank, size, pieces, shapes, inputs, targets):
    def full(i):
        line = functional.all_gather_tensor(pieces[i], 0, dist.group.WORLD)
        (out, into), _ = shapes[i]
        line = line.wait() if hasattr(line, "wait") else line
        return line[: out * into].view(out, into), line[out * into : out * into + out]

    xs = [inputs]
    for i in range(len(pieces)):
        xs.append(layer(xs[-1], *full(i)))
    loss = F.mse_loss(xs[-1], targets).item()
    down = 2 * (xs[-1] - targets) / targets.numel()
    found = {}
    for i in range(len(pieces) - 1, -1, -1):
        leaves = [t.detach().requires_grad_() for t in (xs[i], *full(i))]
        down, *grads = torch.autograd.grad(layer(*leaves), leaves, down)
        line = torch.cat([g.reshape(-1) for g in grads])
        line = F.pad(line, (0, -len(line) % size))
        mine = functional.reduce_scatter_tensor(line, "sum", 0, dist.group.WORLD)
        found[i] = (mine.wait() if hasattr(mine, "wait") else mine) / size
    return loss, [found[i] for i in range(len(pieces))]
