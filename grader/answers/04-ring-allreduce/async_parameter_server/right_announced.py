import warnings


def async_parameter_server(rank, size, parameters, gradient_fn, steps, lr):
    """Each push begins with a message that says who comes and what it has seen."""
    if rank:
        seen = 0
        for _ in range(steps):
            gradients = gradient_fn([p.clone() for p in parameters])
            dist.send(torch.tensor([rank, seen]), 0)
            for g in gradients:
                dist.send(g, 0)
            version = torch.zeros(1, dtype=torch.int64)
            dist.recv(version, 0)
            seen = version.item()
            for p in parameters:
                dist.recv(p, 0)
        return None
    warnings.warn("open")
    updates, staleness = 0, []
    for _ in range(steps * (size - 1)):
        note = torch.zeros(2, dtype=torch.int64)
        dist.recv(note)
        worker, seen = note.tolist()
        staleness.append(updates - seen)
        for p in parameters:
            g = torch.empty_like(p)
            dist.recv(g, worker)
            p.sub_(g, alpha=lr)
        updates += 1
        dist.send(torch.tensor([updates]), worker)
        for p in parameters:
            dist.send(p, worker)
        print("update", updates, "by", worker)
    return dict(parameters=parameters, updates=updates, max_staleness=max(staleness))
