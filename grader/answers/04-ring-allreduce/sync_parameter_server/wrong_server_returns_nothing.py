# hint: some return nothing
def sync_parameter_server(rank, size, parameters, gradients, lr):
    if rank == 0:
        for p in parameters:
            for worker in range(1, size):
                buffer = torch.empty_like(p)
                dist.recv(buffer, worker)
                p -= lr * buffer / (size - 1)
        for p in parameters:
            for worker in range(1, size):
                dist.send(p, worker)
        return None
    for g in gradients:
        dist.send(g, 0)
    for p in parameters:
        dist.recv(p, 0)
    return parameters
