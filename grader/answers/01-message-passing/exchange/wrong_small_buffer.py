# status: deadlock
# says: bytes and the buffer
def exchange(rank, size, tensor):
    received = torch.empty_like(tensor.flatten()[:1])
    requests = [dist.isend(tensor, rank ^ 1), dist.irecv(received, rank ^ 1)]
    for request in requests:
        request.wait()
    return received
