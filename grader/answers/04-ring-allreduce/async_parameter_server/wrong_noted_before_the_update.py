# hint: itself counted
def async_parameter_server(rank, size, parameters, gradient_fn, steps, lr):
    if rank > 0:
        for _ in range(steps):
            for gradient in gradient_fn(parameters):
                dist.send(gradient, 0)
            for parameter in parameters:
                dist.recv(parameter, 0)
        return None
    updates, stalest, answered = 0, 0, {}
    while updates < steps * (size - 1):
        gradients = [torch.empty_like(p) for p in parameters]
        worker = dist.recv(gradients[0])
        for gradient in gradients[1:]:
            dist.recv(gradient, worker)
        stalest = max(stalest, updates - answered.get(worker, 0))
        answered[worker] = updates
        for p, g in zip(parameters, gradients):
            p -= lr * g
        for p in parameters:
            dist.send(p, worker)
        updates += 1
    return {"parameters": parameters, "updates": updates, "max_staleness": stalest}
