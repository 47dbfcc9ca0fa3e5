# hint: parameters not found
import copy

from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self, stages, every):
        super().__init__()
        self.segments = nn.ModuleList(
            [nn.Sequential(*copy.deepcopy(stages[i : i + every])) for i in range(0, len(stages), every)]
        )

    def forward(self, x):
        for segment in self.segments:
            x = checkpoint(segment, x, use_reentrant=False)
        return x


def checkpointed(stages, every):
    return Net(stages, every)
