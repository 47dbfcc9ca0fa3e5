# hint: no plain int


def async_parameter_server(rank, size, parameters, gradient_fn, steps, lr):
    flat = lambda ts: torch.cat([t.reshape(-1) for t in ts])

    def un(f):
        return [
            a.view(p.shape).clone()
            for a, p in zip(f.split([p.numel() for p in parameters]), parameters)
        ]

    if rank:
        ps = parameters
        for _ in range(steps):
            dist.send(flat(gradient_fn(ps)), 0)
            b = flat(ps).clone()
            dist.recv(b, 0)
            ps = un(b)
        return
    f = flat(parameters)
    n = torch.tensor(0)
    last = torch.zeros(size, dtype=torch.int64)
    worst = torch.tensor(0)
    b = torch.empty_like(f)
    for _ in range(steps * (size - 1)):
        w = dist.recv(b)
        worst = max(worst, n - last[w])
        f -= lr * b
        n = n + 1
        last[w] = n
        dist.send(f, w)
    return {"parameters": un(f), "updates": n, "max_staleness": worst}
