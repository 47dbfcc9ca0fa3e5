# hint: another root
def reduce_max_to(rank, size, tensor, dst):
    dist.reduce(tensor, 0, op=dist.ReduceOp.MAX)
    return tensor if rank == dst else None
