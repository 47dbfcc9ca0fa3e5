# hint: nothing changed
def sync_parameter_server(rank, size, parameters, gradients, lr):
    if rank == 0:
        mean = [torch.zeros_like(p) for p in parameters]
        for m in mean:
            for worker in range(1, size):
                buffer = torch.empty_like(m)
                dist.recv(buffer, worker)
                m += buffer / (size - 1)
        for p in parameters:
            for worker in range(1, size):
                dist.send(p, worker)
        for p, m in zip(parameters, mean):
            p -= lr * m
    else:
        for g in gradients:
            dist.send(g, 0)
        for p in parameters:
            dist.recv(p, 0)
    return parameters
