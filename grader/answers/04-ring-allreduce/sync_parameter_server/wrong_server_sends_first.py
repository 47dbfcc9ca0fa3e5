# status: deadlock
def sync_parameter_server(rank, size, parameters, gradients, lr):
    if rank == 0:
        for worker in range(1, size):
            for p in parameters:
                dist.send(p, worker)
            for p in parameters:
                buffer = torch.empty_like(p)
                dist.recv(buffer, worker)
                p -= lr * buffer / (size - 1)
    else:
        for g in gradients:
            dist.send(g, 0)
        for p in parameters:
            dist.recv(p, 0)
    return parameters
