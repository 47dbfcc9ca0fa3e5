# hint: no module
from torch.utils.checkpoint import checkpoint


def checkpointed(stages, every):
    class Net(nn.Module):
        def forward(self, x):
            return checkpoint(nn.Sequential(*stages), x, use_reentrant=False)

    Net()
