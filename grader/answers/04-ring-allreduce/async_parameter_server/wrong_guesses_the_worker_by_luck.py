# status: deadlock
# says: schedules. When rank
import time


def async_parameter_server(rank, size, parameters, gradient_fn, steps, lr):
    """Takes the pushes that come together for those of workers 1, 2, 3, in this order."""
    if rank:
        for step in range(steps):
            gradients = gradient_fn(parameters)
            time.sleep(0.05 * (rank - 1))
            for g in gradients:
                dist.send(g, 0)
            for p in parameters:
                dist.recv(p, 0)
        return None
    updates, stalest, known, guess = 0, 0, [0] * size, size > 3
    while updates < steps * (size - 1):
        first = torch.empty_like(parameters[0])
        worker = dist.recv(first)
        if guess:
            worker = updates % (size - 1) + 1
        push = [first]
        for p in parameters[1:]:
            push.append(torch.empty_like(p))
            dist.recv(push[-1], worker)
        stalest = max(stalest, updates - known[worker])
        for p, g in zip(parameters, push):
            p -= lr * g
        updates += 1
        known[worker] = updates
        for p in parameters:
            dist.send(p, worker)
    return {"parameters": parameters, "updates": updates, "max_staleness": stalest}
