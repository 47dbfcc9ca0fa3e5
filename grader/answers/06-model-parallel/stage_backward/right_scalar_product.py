from torch.distributed import recv, send


def stage_backward(rank, size, output, inputs, loss):
    if loss is None:
        gradient = torch.empty(output.shape, dtype=output.dtype)
        recv(gradient, rank + 1)
        loss = (output * gradient).sum()
    loss.backward()
    if rank:
        send(inputs.grad.clone(), rank - 1)
    return inputs.grad
