# hint: first step alone
def checkpointed(stages, every):
    class Segment(torch.autograd.Function):
        @staticmethod
        def forward(ctx, stack, segment, x, *parameters):
            ctx.stack = stack
            return segment(x)

        @staticmethod
        def backward(ctx, down):
            segment, x, state = ctx.stack.pop()
            x = x.requires_grad_()
            with torch.random.fork_rng(), torch.enable_grad():
                torch.set_rng_state(state)
                y = segment(x)
            return None, None, *torch.autograd.grad(y, [x, *segment.parameters()], down)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.segments = nn.ModuleList(
                nn.Sequential(*stages[i : i + every]) for i in range(0, len(stages), every)
            )
            self.stack = []

        def forward(self, x):
            for segment in self.segments:
                if torch.is_grad_enabled():
                    self.stack.append((segment, x.detach(), torch.get_rng_state()))
                x = Segment.apply(self.stack, segment, x, *segment.parameters())
            return x

    return Net()
