# hint: nothing received
def stage_forward(rank, size, stage, inputs):
    return stage(inputs)
