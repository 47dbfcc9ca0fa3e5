# hint: one number
def reduce_max_to(rank, size, tensor, dst):
    dist.reduce(tensor, dst, op=dist.ReduceOp.MAX)
    return tensor.max() if rank == dst else None
