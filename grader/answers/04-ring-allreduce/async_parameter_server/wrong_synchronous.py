# hint: served in a fixed order
def async_parameter_server(rank, size, parameters, gradient_fn, steps, lr):
    if rank:
        for _ in range(steps):
            for g in gradient_fn(parameters):
                dist.send(g, 0)
            for p in parameters:
                dist.recv(p, 0)
        return None
    for _ in range(steps):
        for p in parameters:
            for worker in range(1, size):
                g = torch.empty_like(p)
                dist.recv(g, worker)
                p -= lr * g / (size - 1)
        for worker in range(1, size):
            for p in parameters:
                dist.send(p, worker)
    return {"parameters": parameters, "updates": steps, "max_staleness": 0}
