from torch.distributed import irecv, isend


def _worker(parameters, gradient_fn, steps):
    for _ in range(steps):
        for request in [isend(g.contiguous(), 0) for g in gradient_fn(parameters)]:
            request.wait()
        answer = [torch.empty_like(p) for p in parameters]
        for request in [irecv(a, 0) for a in answer]:
            request.wait()
        parameters = answer


def _server(size, parameters, pushes, lr):
    counts, stale = [0] * size, [0]
    for number in range(pushes):
        head = torch.zeros_like(parameters[0])
        worker = dist.recv(head)
        rest = [torch.zeros_like(p) for p in parameters[1:]]
        for request in [irecv(r, worker) for r in rest]:
            request.wait()
        stale.append(number - counts[worker])
        parameters = [p - lr * g for p, g in zip(parameters, [head, *rest])]
        for request in [isend(p, worker) for p in parameters]:
            request.wait()
        counts[worker] = number + 1
    return {"parameters": parameters, "updates": pushes, "max_staleness": max(stale)}


def async_parameter_server(rank, size, parameters, gradient_fn, steps, lr):
    if rank == 0:
        return _server(size, parameters, steps * (size - 1), lr)
    _worker(parameters, gradient_fn, steps)
