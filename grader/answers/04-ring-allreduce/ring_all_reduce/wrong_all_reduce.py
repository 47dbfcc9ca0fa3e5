# hint: collective
def ring_all_reduce(rank, size, tensor):
    dist.all_reduce(tensor)
    return tensor
