# status: unanswered
# says: No cell defines exchange; the cell for it defines exchange_tensors.
def exchange_tensors(rank, size, tensor):
    received = torch.empty_like(tensor)
    requests = [dist.isend(tensor, rank ^ 1), dist.irecv(received, rank ^ 1)]
    for request in requests:
        request.wait()
    return received
