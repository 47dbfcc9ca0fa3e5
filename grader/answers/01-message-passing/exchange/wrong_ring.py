# hint: neighbour for partner
def exchange(rank, size, tensor):
    received = torch.empty_like(tensor)
    requests = [
        dist.isend(tensor, (rank + 1) % size),
        dist.irecv(received, (rank - 1) % size),
    ]
    for request in requests:
        request.wait()
    return received
