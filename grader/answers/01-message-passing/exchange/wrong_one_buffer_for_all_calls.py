# says: earlier call
BUFFERS = {}


def exchange(rank, size, tensor):
    key = (tensor.shape, tensor.dtype)
    buffer = BUFFERS.setdefault(key, torch.empty_like(tensor))
    requests = [dist.isend(tensor, rank ^ 1), dist.irecv(buffer, rank ^ 1)]
    for request in requests:
        request.wait()
    return buffer
