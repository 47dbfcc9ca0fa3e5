def stage_backward(rank, size, output, inputs, loss):
    print("backward on rank", rank)
    sent = []
    if rank > 0:
        inputs.register_hook(lambda g: sent.append(dist.isend(g.contiguous(), rank - 1)))
    if rank == size - 1:
        loss.backward()
    else:
        gradient = torch.empty_like(output).detach()
        dist.recv(gradient)
        output.backward(gradient=gradient)
    for request in sent:
        request.wait()
