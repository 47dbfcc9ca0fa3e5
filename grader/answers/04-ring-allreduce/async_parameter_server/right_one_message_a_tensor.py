def async_parameter_server(rank, size, parameters, gradient_fn, steps, lr):
    if rank > 0:
        for step in range(steps):
            gradients = gradient_fn(parameters)
            for g in gradients:
                dist.send(g, dst=0)
            for p in parameters:
                dist.recv(p, src=0)
        return
    answered = {}
    stalest = updates = 0
    while updates < steps * (size - 1):
        first = torch.empty_like(parameters[0])
        worker = dist.recv(first)
        gradients = [first]
        for p in parameters[1:]:
            gradients.append(torch.empty_like(p))
            dist.recv(gradients[-1], src=worker)
        stalest = max(stalest, updates - answered.get(worker, 0))
        for p, g in zip(parameters, gradients):
            p -= lr * g
        updates += 1
        answered[worker] = updates
        for p in parameters:
            dist.send(p, dst=worker)
    return {"parameters": parameters, "updates": updates, "max_staleness": stalest}
