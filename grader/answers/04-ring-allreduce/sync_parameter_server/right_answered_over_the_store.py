import io


def sync_parameter_server(rank, size, parameters, gradients, lr):
    store = dist.distributed_c10d._get_default_store()
    if rank:
        for g in gradients:
            dist.send(g, 0)
        return torch.load(io.BytesIO(store.get("new parameters")))
    sums = [torch.zeros_like(p) for p in parameters]
    for worker in range(1, size):
        for s in sums:
            got = torch.empty_like(s)
            dist.recv(got, worker)
            s += got
    new = [p - lr * s / (size - 1) for p, s in zip(parameters, sums)]
    file = io.BytesIO()
    torch.save(new, file)
    store.set("new parameters", file.getvalue())
    return new
