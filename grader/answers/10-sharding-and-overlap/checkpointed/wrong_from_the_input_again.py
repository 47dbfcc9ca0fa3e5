# hint: run too often
class Net(torch.autograd.Function):
    @staticmethod
    def forward(ctx, segments, x, *parameters):
        ctx.segments, ctx.state = segments, torch.get_rng_state()
        ctx.save_for_backward(x)
        for segment in segments:
            x = segment(x)
        return x

    @staticmethod
    def backward(ctx, down):
        (first,) = ctx.saved_tensors
        parameters = [p for segment in ctx.segments for p in segment.parameters()]
        found = {}
        for i in reversed(range(len(ctx.segments))):
            with torch.random.fork_rng():
                torch.set_rng_state(ctx.state)
                x = first
                with torch.no_grad():
                    for segment in ctx.segments[:i]:
                        x = segment(x)
                with torch.enable_grad():
                    x = x.detach().requires_grad_()
                    y = ctx.segments[i](x)
            own = list(ctx.segments[i].parameters())
            down, *gradients = torch.autograd.grad(y, [x, *own], down)
            found.update(zip(own, gradients))
        return None, down, *(found[p] for p in parameters)


class Checkpointed(nn.Module):
    def __init__(self, stages, every):
        super().__init__()
        self.segments = nn.ModuleList(
            [nn.Sequential(*stages[i : i + every]) for i in range(0, len(stages), every)]
        )

    def forward(self, x):
        return Net.apply(self.segments, x, *self.parameters())


def checkpointed(stages, every):
    return Checkpointed(stages, every)
