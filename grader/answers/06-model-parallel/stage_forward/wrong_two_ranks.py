# status: deadlock
def stage_forward(rank, size, stage, inputs):
    if rank == 1:
        dist.recv(inputs, 0)
    output = stage(inputs)
    if rank == 0:
        dist.send(output.detach(), 1)
    elif rank < size - 1:
        dist.recv(torch.empty_like(inputs), 0)
    return output
