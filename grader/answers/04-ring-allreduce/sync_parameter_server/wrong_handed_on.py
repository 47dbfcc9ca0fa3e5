# hint: between workers
def sync_parameter_server(rank, size, parameters, gradients, lr):
    if rank == 0:
        for p in parameters:
            for worker in range(1, size):
                buffer = torch.empty_like(p)
                dist.recv(buffer, worker)
                p -= lr * buffer / (size - 1)
    else:
        for g in gradients:
            dist.send(g, 0)
    for p in parameters:
        if rank:
            dist.recv(p, rank - 1)
        if rank < size - 1:
            dist.send(p, rank + 1)
    return parameters
