# status: deadlock
# says: is `dist.send(tensor, partner)`
def exchange(rank, size, tensor):
    partner, received = rank ^ 1, torch.empty_like(tensor)
    if tensor.nbytes > 1 << 20:
        dist.send(tensor, partner)
        dist.recv(received, partner)
        return received
    for request in [dist.isend(tensor, partner), dist.irecv(received, partner)]:
        request.wait()
    return received
