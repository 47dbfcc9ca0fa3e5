# says: not for a collective
def exchange(rank, size, tensor):
    received = torch.empty_like(tensor)
    requests = [dist.isend(tensor, rank ^ 1), dist.irecv(received, rank ^ 1)]
    dist.barrier()
    for request in requests:
        request.wait()
    return received
