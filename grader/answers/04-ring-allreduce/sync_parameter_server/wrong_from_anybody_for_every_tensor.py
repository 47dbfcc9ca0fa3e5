# status: deadlock or crashed
# says: recv(src=any)
def sync_parameter_server(rank, size, parameters, gradients, lr):
    if rank:
        for g in gradients:
            dist.send(g, 0)
        for p in parameters:
            dist.recv(p, 0)
        return parameters
    sums = [torch.zeros_like(g) for g in gradients]
    for w in range(1, size):
        for s in sums:
            b = torch.empty_like(s)
            dist.recv(b)
            s += b
    for p, g in zip(parameters, sums):
        p -= lr * g / (size - 1)
    for w in range(1, size):
        for p in parameters:
            dist.send(p, w)
    return parameters
