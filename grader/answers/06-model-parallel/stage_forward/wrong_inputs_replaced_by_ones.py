# says: sent nothing to rank 1
def stage_forward(rank, size, stage, inputs):
    if rank > 0:
        inputs.data.fill_(1)
    return stage(inputs)
