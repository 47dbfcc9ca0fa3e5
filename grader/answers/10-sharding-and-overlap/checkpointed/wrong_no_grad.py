# hint: no gradient of the parameters
class Net(nn.Module):
    def __init__(self, stages, every):
        super().__init__()
        self.stages, self.every = nn.ModuleList(stages), every

    def forward(self, x):
        for i, stage in enumerate(self.stages):
            if (i + 1) % self.every:
                with torch.no_grad():
                    x = stage(x)
            else:
                x = stage(x)
        return x


def checkpointed(stages, every):
    return Net(stages, every)
