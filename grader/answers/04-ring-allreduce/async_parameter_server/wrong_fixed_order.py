# hint: served in a fixed order
def async_parameter_server(rank, size, parameters, gradient_fn, steps, lr):
    if rank:
        for _ in range(steps):
            for g in gradient_fn(parameters):
                dist.send(g, 0)
            for p in parameters:
                dist.recv(p, 0)
        return None
    updates, worst, known = 0, 0, [0] * size
    for _ in range(steps):
        for worker in range(1, size):
            worst = max(worst, updates - known[worker])
            for p in parameters:
                g = torch.empty_like(p)
                dist.recv(g, worker)
                p -= lr * g
            updates += 1
            for p in parameters:
                dist.send(p, worker)
            known[worker] = updates
    return {"parameters": parameters, "updates": updates, "max_staleness": worst}
