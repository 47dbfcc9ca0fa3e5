# hint: twice
def stage_backward(rank, size, output, inputs, loss):
    if rank == size - 1:
        loss.backward(retain_graph=True)
        loss.backward()
    else:
        gradient = torch.empty_like(output)
        dist.recv(gradient, src=rank + 1)
        output.backward(torch.ones_like(output))
    if rank > 0:
        dist.send(inputs.grad, dst=rank - 1)
