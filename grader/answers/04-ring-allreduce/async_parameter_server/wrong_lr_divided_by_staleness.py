# hint: pushes not applied as they came
def async_parameter_server(rank, size, parameters, gradient_fn, steps, lr):
    if rank:
        for _ in range(steps):
            for g in gradient_fn(parameters):
                dist.send(g, 0)
            for p in parameters:
                dist.recv(p, 0)
        return None
    known, worst = [0] * size, 0
    for updates in range(steps * (size - 1)):
        got = [torch.empty_like(p) for p in parameters]
        worker = dist.recv(got[0])
        for g in got[1:]:
            dist.recv(g, worker)
        worst = max(worst, updates - known[worker])
        for p, g in zip(parameters, got):
            p -= lr / max(1, updates - known[worker]) * g
        for p in parameters:
            dist.send(p, worker)
        known[worker] = updates + 1
    return {"parameters": parameters, "updates": steps * (size - 1), "max_staleness": worst}
