# hint: nothing returned
def stage_forward(rank, size, stage, inputs):
    return None
