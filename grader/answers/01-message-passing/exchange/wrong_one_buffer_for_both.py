# hint: send buffer changed
# says: isend(dst=1) at exchange:5 was under way when its buffer was changed at exchange:5
def exchange(rank, size, tensor):
    buffer = tensor.clone()
    requests = [dist.isend(buffer, rank ^ 1), dist.irecv(buffer, rank ^ 1)]
    for request in requests:
        request.wait()
    return buffer
