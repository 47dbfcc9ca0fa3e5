# status: deadlock
# says: rank 1's irecv(src=2) at exchange:6 is not for rank 0
def exchange(rank, size, tensor):
    received = torch.empty_like(tensor)
    right = (rank + 1) % size
    requests = [dist.isend(tensor, right), dist.irecv(received, right)]
    for request in requests:
        request.wait()
    return received
