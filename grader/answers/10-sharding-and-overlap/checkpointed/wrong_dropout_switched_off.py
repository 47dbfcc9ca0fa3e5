# hint: output differs
# says: eval()
def checkpointed(stages, every):
    class Segment(torch.autograd.Function):
        @staticmethod
        def forward(ctx, segment, x, *parameters):
            ctx.segment, ctx.random = segment, torch.get_rng_state()
            ctx.save_for_backward(x)
            return segment(x)

        @staticmethod
        def backward(ctx, down):
            (x,) = ctx.saved_tensors
            x = x.detach().requires_grad_()
            parameters = list(ctx.segment.parameters())
            with torch.random.fork_rng(), torch.enable_grad():
                torch.set_rng_state(ctx.random)
                y = ctx.segment.eval()(x)
            return None, *torch.autograd.grad(y, [x, *parameters], down)

    class Checkpointed(nn.Module):
        def __init__(self):
            super().__init__()
            self.segments = nn.ModuleList(
                nn.Sequential(*stages[i : i + every]) for i in range(0, len(stages), every)
            )

        def forward(self, x):
            for segment in self.segments:
                x = Segment.apply(segment, x, *segment.parameters())
            return x

    return Checkpointed()
