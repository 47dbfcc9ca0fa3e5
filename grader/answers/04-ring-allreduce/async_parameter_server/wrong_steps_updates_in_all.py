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
    while updates < steps:
        grads = [torch.empty_like(p) for p in parameters]
        worker = dist.recv(grads[0])
        for g in grads[1:]:
            dist.recv(g, worker)
        worst = max(worst, updates - known[worker])
        for p, g in zip(parameters, grads):
            p -= lr * g
        updates += 1
        for p in parameters:
            dist.send(p, worker)
        known[worker] = updates
    return {"parameters": parameters, "updates": updates, "max_staleness": worst}
