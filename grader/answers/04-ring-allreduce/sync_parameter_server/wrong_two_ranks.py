# status: deadlock
def sync_parameter_server(rank, size, parameters, gradients, lr):
    if rank == 0:
        for p in parameters:
            buffer = torch.empty_like(p)
            dist.recv(buffer, 1)
            p -= lr * buffer
        for p in parameters:
            dist.send(p, 1)
    else:
        for g in gradients:
            dist.send(g, 0)
        for p in parameters:
            dist.recv(p, 0)
    return parameters
