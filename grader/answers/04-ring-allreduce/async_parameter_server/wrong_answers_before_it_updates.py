# hint: answered before the update
def async_parameter_server(rank, size, parameters, gradient_fn, steps, lr):
    if rank:
        for _ in range(steps):
            for g in gradient_fn(parameters): dist.send(g, 0)
            for p in parameters: dist.recv(p, 0)
        return
    seen = [0] * size; worst = 0
    for n in range(steps * (size - 1)):
        gs = [torch.empty_like(p) for p in parameters]
        w = dist.recv(gs[0])
        for g in gs[1:]: dist.recv(g, w)
        for p in parameters: dist.send(p, w)
        for p, g in zip(parameters, gs): p -= lr * g
        worst = max(worst, n - seen[w]); seen[w] = n + 1
    return {"parameters": parameters, "updates": n + 1, "max_staleness": worst}
