# hint: own parameters stepped
def sync_parameter_server(rank, size, parameters, gradients, lr):
    if rank == 0:
        for g in gradients:
            g.zero_()
            for worker in range(1, size):
                buffer = torch.empty_like(g)
                dist.recv(buffer, worker)
                g += buffer / (size - 1)
        for g in gradients:
            for worker in range(1, size):
                dist.send(g, worker)
    else:
        for g in gradients:
            dist.send(g, 0)
        for g in gradients:
            dist.recv(g, 0)
    for p, g in zip(parameters, gradients):
        p -= lr * g
    return parameters
