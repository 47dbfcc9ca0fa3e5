# hint: a tree
# says: in a ring of 4 it sends 6 messages, all to rank 1
def ring_all_reduce(rank, size, tensor):
    children = [child for child in (2 * rank + 1, 2 * rank + 2) if child < size]
    parent = (rank - 1) // 2
    buffer = torch.empty_like(tensor)
    for child in children:
        dist.recv(buffer, child)
        tensor += buffer
    if rank:
        dist.send(tensor, parent)
        dist.recv(tensor, parent)
    for child in children:
        dist.send(tensor, child)
    return tensor
