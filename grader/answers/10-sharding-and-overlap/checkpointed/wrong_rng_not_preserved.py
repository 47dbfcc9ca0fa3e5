from torch.utils.checkpoint import checkpoint


class Checkpointed(nn.Module):
    def __init__(self, stages, every):
        super().__init__()
        self.segments = nn.ModuleList(
            [nn.Sequential(*stages[i : i + every]) for i in range(0, len(stages), every)]
        )

    def forward(self, x):
        for segment in self.segments:
            x = checkpoint(segment, x, use_reentrant=False, preserve_rng_state=False)
        return x


def checkpointed(stages, every):
    return Checkpointed(stages, every)
