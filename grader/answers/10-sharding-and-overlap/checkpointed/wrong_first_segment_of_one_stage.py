# says: The first holds stages 0
from torch.utils.checkpoint import checkpoint
def checkpointed(stages, every):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            cuts = [0, *range(1, len(stages), every), len(stages)]
            self.parts = nn.ModuleList(nn.Sequential(*stages[a:b]) for a, b in zip(cuts, cuts[1:]) if b > a)
        def forward(self, x):
            for p in self.parts:
                x = checkpoint(p, x, use_reentrant=False)
            return x
    return Net()
