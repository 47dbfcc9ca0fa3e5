# hint: one segment kept
# says: perhaps the last?
from torch.utils.checkpoint import checkpoint


def checkpointed(stages, every):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            cuts = range(0, len(stages), every)
            self.segments = nn.ModuleList(nn.Sequential(*stages[i : i + every]) for i in cuts)

        def forward(self, x):
            first, *others = self.segments
            x = first(x)
            for segment in others:
                x = checkpoint(segment, x, use_reentrant=False)
            return x

    return Net()
