from torch.utils.checkpoint import checkpoint


class Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx, piece, size):
        ctx.size = size
        parts = [torch.empty_like(piece) for _ in range(size)]
        dist.all_gather(parts, piece)
        return torch.cat(parts)

    @staticmethod
    def backward(ctx, gradient):
        mine = gradient.new_empty(len(gradient) // ctx.size)
        dist.reduce_scatter(mine, list(gradient.chunk(ctx.size)))
        return mine / ctx.size, None


def block(x, piece, size, shapes):
    (out, into), _ = shapes
    line = Gather.apply(piece, size)
    return layer(x, line[: out * into].view(out, into), line[out * into : out * into + out])


def fsdp_step(rank, size, pieces, shapes, inputs, targets):
    pieces = [piece.clone().requires_grad_() for piece in pieces]
    x = inputs
    for piece, shape in zip(pieces, shapes):
        x = checkpoint(block, x, piece, size, shape, use_reentrant=False)
    loss = F.mse_loss(x, targets)
    loss.backward()
    return loss.item(), [piece.grad for piece in pieces]
