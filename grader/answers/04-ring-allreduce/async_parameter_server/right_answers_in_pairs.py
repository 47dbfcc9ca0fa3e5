def async_parameter_server(rank, size, parameters, gradient_fn, steps, lr):
    """A group of the server and each worker; the server broadcasts in that of the one that came."""
    pairs = [dist.new_group([0, worker]) for worker in range(1, size)]
    if rank:
        for _ in range(steps):
            for request in [dist.isend(g, 0) for g in gradient_fn(parameters)]:
                request.wait()
            for p in parameters:
                dist.broadcast(p, src=0, group=pairs[rank - 1])
        return None
    seen, worst = {}, 0
    for update in range(steps * (size - 1)):
        gradients = [torch.zeros_like(p) for p in parameters]
        worker = dist.recv(gradients[0])
        for g in gradients[1:]:
            dist.recv(g, worker)
        worst = max(worst, update - seen.get(worker, 0))
        torch._foreach_sub_(parameters, gradients, alpha=lr)
        for p in parameters:
            dist.broadcast(p, src=0, group=pairs[worker - 1])
        seen[worker] = update + 1
    return {"parameters": parameters, "updates": len(seen) * steps, "max_staleness": worst}
