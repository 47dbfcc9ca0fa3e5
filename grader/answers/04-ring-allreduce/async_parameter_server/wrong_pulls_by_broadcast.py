# hint: collective
def async_parameter_server(rank, size, parameters, gradient_fn, steps, lr):
    for _ in range(steps):
        if rank:
            for g in gradient_fn(parameters):
                dist.send(g, 0)
        else:
            for worker in range(1, size):
                for p in parameters:
                    g = torch.empty_like(p)
                    dist.recv(g, worker)
                    p -= lr * g
        for p in parameters:
            dist.broadcast(p, 0)
    if rank == 0:
        return {"parameters": parameters, "updates": steps * (size - 1), "max_staleness": 0}
