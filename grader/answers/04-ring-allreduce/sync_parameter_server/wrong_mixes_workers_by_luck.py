# status: wrong
# says: schedules. When rank
import time


def sync_parameter_server(rank, size, parameters, gradients, lr):
    """Right as long as a worker has sent all of its tensors before the next one begins."""
    n = sum(p.numel() for p in parameters)
    if rank == 0:
        total = [torch.zeros(n, dtype=parameters[0].dtype) for _ in range(2)]
        for _ in range(size - 1):
            for part in total:
                buffer = torch.zeros_like(part)
                dist.recv(buffer)
                part += buffer
        flat = torch.cat([p.reshape(-1) for p in parameters]) - lr * total[0] / (size - 1)
        for worker in range(1, size):
            dist.send(flat, worker)
    else:
        time.sleep(0.1 * (rank - 1))
        flat = torch.cat([g.reshape(-1) for g in gradients])
        dist.send(flat, 0)
        dist.send(torch.zeros_like(flat), 0)
        dist.recv(flat, 0)
    parts = flat.split([p.numel() for p in parameters])
    return [part.view(p.shape) for part, p in zip(parts, parameters)]
