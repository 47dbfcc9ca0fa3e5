# hint: gradients sent back
def sync_parameter_server(rank, size, parameters, gradients, lr):
    if rank == 0:
        for p, g in zip(parameters, gradients):
            g.zero_()
            for worker in range(1, size):
                buffer = torch.empty_like(g)
                dist.recv(buffer, worker)
                g += buffer / (size - 1)
            p -= lr * g
        for g in gradients:
            for worker in range(1, size):
                dist.send(g, worker)
        return parameters
    for g in gradients:
        dist.send(g, 0)
    for p in parameters:
        dist.recv(p, 0)
    return parameters
