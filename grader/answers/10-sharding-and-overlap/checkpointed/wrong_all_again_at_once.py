# hint: segments out of order
class Net(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stages, every, x, *parameters):
        ctx.stages, ctx.state = stages, torch.get_rng_state()
        ctx.save_for_backward(x)
        ctx.kept = []
        for i, stage in enumerate(stages):
            x = stage(x)
            if (i + 1) % every == 0:
                ctx.kept.append(x)
        return x

    @staticmethod
    def backward(ctx, down):
        (x,) = ctx.saved_tensors
        with torch.random.fork_rng(), torch.enable_grad():
            torch.set_rng_state(ctx.state)
            y = x = x.detach().requires_grad_()
            for stage in ctx.stages:
                y = stage(y)
        found = torch.autograd.grad(y, [x, *ctx.stages.parameters()], down)
        return None, None, *found


class Checkpointed(nn.Module):
    def __init__(self, stages, every):
        super().__init__()
        self.stages, self.every = nn.ModuleList(stages), every

    def forward(self, x):
        return Net.apply(self.stages, self.every, x, *self.parameters())


def checkpointed(stages, every):
    return Checkpointed(stages, every)
