# status: deadlock
# says: rank 1's irecv(src=0) at exchange:7 has tag 0, not 1
def exchange(rank, size, tensor):
    received = torch.empty_like(tensor)
    requests = [
        dist.isend(tensor, rank ^ 1, tag=1),
        dist.irecv(received, rank ^ 1),
    ]
    for request in requests:
        request.wait()
    return received
