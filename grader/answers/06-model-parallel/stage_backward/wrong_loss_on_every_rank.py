# status: error
# says: NoneType
def stage_backward(rank, size, output, inputs, loss):
    loss.backward()
    if rank > 0:
        dist.send(inputs.grad, rank - 1)
