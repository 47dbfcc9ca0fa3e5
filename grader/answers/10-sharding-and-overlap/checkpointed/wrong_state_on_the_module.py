# hint: forward passes mixed up
class Segment(torch.autograd.Function):
    @staticmethod
    def forward(ctx, net, number, x, *parameters):
        net.kept[number], net.states[number] = x.detach(), torch.get_rng_state()
        ctx.net, ctx.number = net, number
        return net.segments[number](x)

    @staticmethod
    def backward(ctx, down):
        segment = ctx.net.segments[ctx.number]
        x = ctx.net.kept[ctx.number].requires_grad_()
        with torch.random.fork_rng(), torch.enable_grad():
            torch.set_rng_state(ctx.net.states[ctx.number])
            y = segment(x)
        return None, None, *torch.autograd.grad(y, [x, *segment.parameters()], down)


class Net(nn.Module):
    def __init__(self, stages, every):
        super().__init__()
        self.segments = nn.ModuleList(
            [nn.Sequential(*stages[i : i + every]) for i in range(0, len(stages), every)]
        )
        self.kept, self.states = {}, {}

    def forward(self, x):
        for i, segment in enumerate(self.segments):
            x = Segment.apply(self, i, x, *segment.parameters())
        return x


def checkpointed(stages, every):
    return Net(stages, every)
