# hint: wrong gradients
class Segment(torch.autograd.Function):
    @staticmethod
    def forward(ctx, segment, x, *parameters):
        ctx.segment, ctx.state = segment, torch.get_rng_state()
        ctx.save_for_backward(x)
        return segment(x)

    @staticmethod
    def backward(ctx, down):
        (x,) = ctx.saved_tensors
        x = x.detach().requires_grad_()
        now = torch.get_rng_state()
        torch.set_rng_state(ctx.state)
        with torch.enable_grad():
            y = ctx.segment(x)
        torch.set_rng_state(now)
        found = torch.autograd.grad(y, [x, *ctx.segment.parameters()], down)
        return None, None, *found[1:]


class Net(nn.Module):
    def __init__(self, stages, every):
        super().__init__()
        self.segments = nn.ModuleList(
            [nn.Sequential(*stages[i : i + every]) for i in range(0, len(stages), every)]
        )

    def forward(self, x):
        for segment in self.segments:
            x = Segment.apply(segment, x, *segment.parameters())
        return x


def checkpointed(stages, every):
    return Net(stages, every)
