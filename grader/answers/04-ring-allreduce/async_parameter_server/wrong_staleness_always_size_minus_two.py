def async_parameter_server(rank, size, parameters, gradient_fn, steps, lr):
    if rank:
        for _ in range(steps):
            for g in gradient_fn(parameters):
                dist.send(g, 0)
            for p in parameters:
                dist.recv(p, 0)
        return None
    for updates in range(steps * (size - 1)):
        grads = [torch.empty_like(p) for p in parameters]
        worker = dist.recv(grads[0])
        for g in grads[1:]:
            dist.recv(g, worker)
        for p, g in zip(parameters, grads):
            p -= lr * g
        for p in parameters:
            dist.send(p, worker)
    return {"parameters": parameters, "updates": updates + 1, "max_staleness": size - 2}
