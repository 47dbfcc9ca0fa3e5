# says: which nobody asked for
def relay(rank, size, tensor):
    total = tensor.clone()
    for source in range(rank):
        received = torch.empty_like(tensor)
        dist.recv(received, source)
        total += received
    for target in range(rank + 1, size):
        dist.send(tensor, target)
    return total
