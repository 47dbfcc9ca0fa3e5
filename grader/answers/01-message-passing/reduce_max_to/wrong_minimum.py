# hint: minimum for maximum
def reduce_max_to(rank, size, tensor, dst):
    dist.reduce(tensor, dst, op=dist.ReduceOp.MIN)
    return tensor if rank == dst else None
