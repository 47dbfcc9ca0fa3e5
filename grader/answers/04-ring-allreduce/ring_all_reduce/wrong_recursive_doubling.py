# hint: straight to the others
def ring_all_reduce(rank, size, tensor):
    distance = 1
    while distance < size:
        buffer = torch.empty_like(tensor)
        request = dist.isend(tensor, rank ^ distance)
        dist.recv(buffer, rank ^ distance)
        request.wait()
        tensor = tensor + buffer
        distance *= 2
    return tensor
