import warnings


def reduce_max_to(rank, size, tensor, dst):
    warnings.warn("by hand")
    if rank != dst:
        return dist.send(tensor, dst)
    best = tensor
    for _ in range(size - 1):
        buffer = torch.empty_like(tensor)
        dist.recv(buffer)
        best = torch.maximum(best, buffer)
    return best
