# hint: nothing returned
def exchange(rank, size, tensor):
    received = torch.empty_like(tensor)
    requests = [dist.isend(tensor, rank ^ 1), dist.irecv(received, rank ^ 1)]
    for request in requests:
        request.wait()
