from torch.utils.checkpoint import checkpoint


class Checkpointed(nn.Module):
    def __init__(self, stages, every):
        super().__init__()
        self.stages, self.every = nn.ModuleList(stages), every

    def forward(self, x):
        for i in range(0, len(self.stages), self.every):
            x = checkpoint(nn.Sequential(*self.stages[i : i + self.every]), x, use_reentrant=False)
        return x


def checkpointed(stages, every):
    return Checkpointed(stages, every)
