class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, run, x, *parameters):
        ctx.run, ctx.state = run, torch.get_rng_state()
        ctx.save_for_backward(x, *parameters)
        with torch.no_grad():
            return run(x)

    @staticmethod
    def backward(ctx, down):
        x, *parameters = ctx.saved_tensors
        after = torch.get_rng_state()
        torch.set_rng_state(ctx.state)
        with torch.enable_grad():
            x = x.detach().requires_grad_(ctx.needs_input_grad[1])
            y = ctx.run(x)
        torch.set_rng_state(after)
        wanted = [t for t in (x, *parameters) if t.requires_grad]
        found = iter(torch.autograd.grad(y, wanted, down))
        return None, *(next(found) if t.requires_grad else None for t in (x, *parameters))


def checkpointed(stages, every):
    module = nn.Sequential(*stages)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = module

        def forward(self, x):
            for i in range(0, len(stages), every):
                part = self.inner[i : i + every]
                x = Again.apply(part, x, *part.parameters())
            return x

    return Net()
