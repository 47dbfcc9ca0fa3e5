def stage_backward(rank, size, output, inputs, loss):
    gradient = None
    if rank < size - 1:
        gradient = torch.zeros_like(output, requires_grad=False)
        dist.irecv(gradient, rank + 1).wait()
    torch.autograd.backward([output if loss is None else loss], [gradient])
    if rank > 0:
        dist.isend(inputs.grad, rank - 1).wait()
