def checkpointed(stages, every):
    class Run(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, net, *params):
            ctx.net = net
            ctx.nparams = len(params)
            ctx.kept = []
            ctx.states = []
            i = 0
            while i < len(net.stages):
                ctx.kept.append(x.clone())
                ctx.states.append(torch.get_rng_state().clone())
                j = 0
                while j < every and i < len(net.stages):
                    x = net.stages[i](x)
                    i = i + 1
                    j = j + 1
            ctx.needs = ctx.needs_input_grad[0]
            return x
        @staticmethod
        def backward(ctx, down):
            before = torch.get_rng_state()
            grads = {}
            number_of_segments = len(ctx.kept)
            for k in reversed(range(number_of_segments)):
                x = ctx.kept[k].detach().requires_grad_()
                torch.set_rng_state(ctx.states[k])
                seg = list(ctx.net.stages)[k * every:(k + 1) * every]
                with torch.enable_grad():
                    y = x
                    for s in seg:
                        y = s(y)
                ps = []
                for s in seg:
                    for p in s.parameters():
                        if p.requires_grad:
                            ps.append(p)
                if y.requires_grad:
                    g = torch.autograd.grad(y, [x] + ps, down, allow_unused=True)
                    down = g[0]
                    for p, gp in zip(ps, g[1:]):
                        if p in grads and gp is not None and grads[p] is not None:
                            grads[p] = grads[p] + gp
                        else:
                            grads[p] = gp
            torch.set_rng_state(before)
            out = []
            for p in ctx.net.parameters():
                out.append(grads.get(p))
            return (down if ctx.needs else None, None, *out)
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.stages = nn.ModuleList(stages)
        def forward(self, x):
            return Run.apply(x, self, *self.parameters())
    return Net()
