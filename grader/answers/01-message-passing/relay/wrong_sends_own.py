# hint: sum of two
def relay(rank, size, tensor):
    own = tensor.clone()
    if rank > 0:
        received = torch.empty_like(tensor)
    requests = []
    if rank < size - 1:
        requests.append(dist.isend(own, rank + 1))
    if rank > 0:
        requests.append(dist.irecv(received, rank - 1))
    for request in requests:
        request.wait()
    return own + received if rank > 0 else own
