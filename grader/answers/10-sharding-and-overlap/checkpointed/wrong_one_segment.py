# hint: segments of another length
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self, stages, every):
        super().__init__()
        self.stages = nn.Sequential(*stages)

    def forward(self, x):
        return checkpoint(self.stages, x, use_reentrant=False)


def checkpointed(stages, every):
    return Net(stages, every)
