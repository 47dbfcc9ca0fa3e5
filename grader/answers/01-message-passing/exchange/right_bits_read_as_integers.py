def exchange(rank, size, tensor):
    received = torch.empty_like(tensor)
    bits = received.view(torch.int32)
    requests = [dist.isend(tensor, rank ^ 1), dist.irecv(bits, rank ^ 1)]
    for request in requests:
        request.wait()
    return received
