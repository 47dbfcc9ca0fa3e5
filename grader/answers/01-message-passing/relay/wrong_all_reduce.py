# hint: total everywhere
def relay(rank, size, tensor):
    dist.all_reduce(tensor)
    return tensor
