def async_parameter_server(rank, size, parameters, gradient_fn, steps, lr):
    if rank:
        for step in range(steps):
            grads = gradient_fn(parameters)
            dist.send(torch.tensor([rank, step]), 0, tag=1)
            for g in grads:
                dist.send(g, 0, tag=2)
            for p in parameters:
                dist.recv(p, 0, tag=3)
        dist.send(torch.tensor([rank, -1]), 0, tag=1)
        return None
    alive, updates, seen, worst = set(range(1, size)), 0, {}, 0
    while alive:
        head = torch.zeros(2, dtype=torch.int64)
        dist.recv(head, tag=1)
        who, step = head.tolist()
        if step < 0:
            alive.discard(who)
            continue
        worst = max(worst, updates - seen.get(who, 0))
        for p in parameters:
            g = torch.empty_like(p)
            dist.recv(g, who, tag=2)
            p -= lr * g
        updates += 1
        seen[who] = updates
        for p in parameters:
            dist.send(p, who, tag=3)
    return {"parameters": parameters, "updates": updates, "max_staleness": worst}
