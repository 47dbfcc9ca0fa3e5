# hint: straight to the others
# says: rank 0 sent 3 messages to ranks 1, 2 and 3, in all 3 times the bytes of its tensor
def ring_all_reduce(rank, size, tensor):
    requests, buffers = [], []
    for other in range(size):
        if other != rank:
            buffers.append(torch.empty_like(tensor))
            requests.append(dist.isend(tensor, other))
            requests.append(dist.irecv(buffers[-1], other))
    for request in requests:
        request.wait()
    return tensor + sum(buffers)
