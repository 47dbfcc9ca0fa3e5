# hint: collective
def sync_parameter_server(rank, size, parameters, gradients, lr):
    for p, g in zip(parameters, gradients):
        rows = [torch.empty_like(g) for _ in range(size)] if rank == 0 else None
        dist.gather(g, rows, dst=0)
        if rank == 0:
            p -= lr * torch.stack(rows[1:]).mean(0)
        dist.broadcast(p, 0)
    return parameters
