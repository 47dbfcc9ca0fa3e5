# hint: too much kept
def checkpointed(stages, every):
    return nn.Sequential(*stages)
