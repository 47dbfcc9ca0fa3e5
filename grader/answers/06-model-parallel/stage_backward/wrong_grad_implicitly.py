# status: error
# says: grad can be implicitly created only for scalar outputs
def stage_backward(rank, size, output, inputs, loss):
    if rank == size - 1:
        loss.backward()
    else:
        output.grad = torch.empty_like(output)
        dist.recv(output.grad, rank + 1)
        output.backward()
    if rank > 0:
        dist.send(inputs.grad, rank - 1)
