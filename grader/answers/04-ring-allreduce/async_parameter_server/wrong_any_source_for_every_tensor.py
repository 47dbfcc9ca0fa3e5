# status: deadlock
def async_parameter_server(rank, size, parameters, gradient_fn, steps, lr):
    if rank:
        for _ in range(steps):
            for g in gradient_fn(parameters):
                dist.send(g, 0)
            for p in parameters:
                dist.recv(p, 0)
        return None
    updates, worst, known = 0, 0, [0] * size
    while updates < steps * (size - 1):
        for p in parameters:
            g = torch.empty_like(p)
            worker = dist.recv(g)
            p -= lr * g
        worst = max(worst, updates - known[worker])
        updates += 1
        for p in parameters:
            dist.send(p, worker)
        known[worker] = updates
    return {"parameters": parameters, "updates": updates, "max_staleness": worst}
