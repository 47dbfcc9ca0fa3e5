# status: error
# says: Invalid destination rank
def exchange(rank, size, tensor):
    received = torch.empty_like(tensor)
    requests = [dist.isend(tensor, 1 - rank), dist.irecv(received, 1 - rank)]
    for request in requests:
        request.wait()
    return received
