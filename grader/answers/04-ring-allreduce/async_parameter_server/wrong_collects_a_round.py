# hint: collected before answered
def async_parameter_server(rank, size, parameters, gradient_fn, steps, lr):
    flat = torch.cat([p.flatten() for p in parameters])
    sizes = [p.numel() for p in parameters]
    if rank:
        for _ in range(steps):
            new = [f.view(p.shape) for f, p in zip(flat.split(sizes), parameters)]
            dist.send(torch.cat([g.flatten() for g in gradient_fn(new)]), 0)
            dist.recv(flat, 0)
        return None
    updates = 0
    for _ in range(steps):
        came = []
        for _ in range(size - 1):
            g = torch.empty_like(flat)
            came.append(dist.recv(g))
            flat -= lr * g
            updates += 1
        for worker in came:
            dist.send(flat, worker)
    new = [f.view(p.shape) for f, p in zip(flat.split(sizes), parameters)]
    return {"parameters": new, "updates": updates, "max_staleness": size - 2}
