# hint: sum for maximum
def reduce_max_to(rank, size, tensor, dst):
    dist.reduce(tensor, dst)
    return tensor if rank == dst else None
