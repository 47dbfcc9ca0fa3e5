# hint: twice before the last
def stage_backward(rank, size, output, inputs, loss):
    if rank == size - 1:
        loss.backward()
    else:
        g = torch.empty_like(output)
        dist.recv(g, rank + 1)
        output.backward(g)
    if rank > 0:
        dist.send(inputs.grad * 2, rank - 1)
