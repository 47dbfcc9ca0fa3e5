import warnings


def broadcast_from(rank, size, tensor, src):
    warnings.warn("by hand")
    if rank == src:
        requests = [dist.isend(tensor, dst) for dst in range(size) if dst != src]
        for request in requests:
            request.wait()
    else:
        dist.recv(tensor, src)
    return tensor
