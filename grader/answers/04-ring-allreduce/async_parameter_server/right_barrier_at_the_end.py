# nobody leaves before all have been answered
def async_parameter_server(rank, size, parameters, gradient_fn, steps, lr):
    result = None
    if rank == 0:
        last, worst = [0] * size, 0
        for n in range(steps * (size - 1)):
            gs = [torch.zeros_like(p) for p in parameters]
            w = dist.recv(gs[0])
            for g in gs[1:]:
                dist.recv(g, w)
            worst = max(worst, n - last[w])
            for p, g in zip(parameters, gs):
                p -= lr * g
            last[w] = n + 1
            for p in parameters:
                dist.send(p, w)
        result = {"parameters": parameters, "updates": n + 1, "max_staleness": worst}
    else:
        for _ in range(steps):
            for g in gradient_fn(parameters):
                dist.send(g, 0)
            for p in parameters:
                dist.recv(p, 0)
    dist.barrier()
    return result
