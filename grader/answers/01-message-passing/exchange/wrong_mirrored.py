# hint: mirror for partner
def exchange(rank, size, tensor):
    received = torch.empty_like(tensor)
    partner = size - 1 - rank
    requests = [dist.isend(tensor, partner), dist.irecv(received, partner)]
    for request in requests:
        request.wait()
    return received
