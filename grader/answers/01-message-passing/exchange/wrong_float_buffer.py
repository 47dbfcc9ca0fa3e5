# hint: other dtype
def exchange(rank, size, tensor):
    received = torch.zeros(tensor.shape, dtype=torch.float64)
    requests = [dist.isend(tensor, rank ^ 1), dist.irecv(received, rank ^ 1)]
    for request in requests:
        request.wait()
    return received
