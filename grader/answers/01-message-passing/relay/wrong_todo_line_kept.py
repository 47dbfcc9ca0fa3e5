# status: unanswered
# says: take that line out
def relay(rank, size, tensor):
    if rank > 0:
        buffer = torch.empty_like(tensor)
        dist.recv(buffer, src=rank - 1)
        tensor += buffer
    if rank < size - 1:
        dist.send(tensor, dst=rank + 1)
    raise NotImplementedError("TODO relay")
