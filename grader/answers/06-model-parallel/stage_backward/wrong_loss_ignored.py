# hint: not from the loss
def stage_backward(rank, size, output, inputs, loss):
    if rank == size - 1:
        output.sum().backward()
    else:
        gradient = torch.empty_like(output)
        dist.recv(gradient, rank + 1)
        output.backward(gradient)
    if rank > 0:
        dist.send(inputs.grad, rank - 1)
