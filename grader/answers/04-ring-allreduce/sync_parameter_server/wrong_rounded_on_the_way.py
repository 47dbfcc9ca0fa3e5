# says: rounds the values
def sync_parameter_server(rank, size, parameters, gradients, lr):
    if rank:
        for g in gradients:
            dist.send(g.bfloat16(), 0)
        for p in parameters:
            dist.recv(p, 0)
        return parameters
    new = []
    for i, p in enumerate(parameters):
        t = torch.zeros_like(p)
        for w in range(1, size):
            b = torch.empty_like(p).bfloat16()
            dist.recv(b, w)
            t += b
        new.append(p - lr * t / (size - 1))
    for w in range(1, size):
        for p in new:
            dist.send(p, w)
    return new
