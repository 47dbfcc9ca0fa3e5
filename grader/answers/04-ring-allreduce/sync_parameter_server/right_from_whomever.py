import warnings


def sync_parameter_server(rank, size, parameters, gradients, lr):
    warnings.warn("serving")
    shapes = [p.shape for p in parameters]
    sizes = [p.numel() for p in parameters]

    def flat(tensors):
        return torch.cat([t.reshape(-1) for t in tensors])

    if rank == 0:
        total = torch.zeros_like(flat(gradients))
        waiting = []
        for _ in range(1, size):
            buffer = torch.empty_like(total)
            waiting.append(dist.recv(buffer))
            total += buffer
        answer = flat(parameters) - lr * total / len(waiting)
        for worker in reversed(waiting):
            dist.send(answer, worker)
    else:
        dist.send(flat(gradients), 0)
        answer = torch.empty_like(flat(parameters))
        dist.recv(answer, 0)
    return [part.view(shape) for part, shape in zip(answer.split(sizes), shapes)]
