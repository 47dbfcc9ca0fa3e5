class Net(nn.Module):
    def __init__(self, stages, every):
        super().__init__()
        self.segments = nn.ModuleList(
            [nn.ModuleList(stages[i : i + every]) for i in range(0, len(stages), every)]
        )

    def forward(self, x):
        for segment in self.segments:
            x = run(segment, x)
        return x


def run(segment, x):
    state, given, made, count = torch.get_rng_state(), x.detach(), {}, [0]

    def again():
        now = torch.get_rng_state()
        torch.set_rng_state(state)
        kept = []

        def keep(tensor):
            kept.append(tensor.detach())
            return len(kept)

        def never(_):
            raise AssertionError

        with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(keep, never):
            y = given.detach().requires_grad_(x_needs)
            for stage in segment:
                y = stage(y)
        torch.set_rng_state(now)
        return dict(enumerate(kept))

    def pack(_):
        count[0] += 1
        return count[0] - 1

    def unpack(number):
        if not made:
            made.update(again())
        tensor = made[number]
        return tensor

    x_needs = x.requires_grad
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        for stage in segment:
            x = stage(x)
    return x


def checkpointed(stages, every):
    return Net(stages, every)
