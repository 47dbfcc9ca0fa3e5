# hint: nothing went back
def stage_backward(rank, size, output, inputs, loss):
    if rank == size - 1:
        loss.backward()
    else:
        output.mean().backward()
