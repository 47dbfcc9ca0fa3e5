# hint: collective
def sync_parameter_server(rank, size, parameters, gradients, lr):
    for p, g in zip(parameters, gradients):
        if rank == 0:
            g.zero_()
        dist.all_reduce(g)
        dist.broadcast(p, 0)
        p -= lr * g / (size - 1)
    return parameters
