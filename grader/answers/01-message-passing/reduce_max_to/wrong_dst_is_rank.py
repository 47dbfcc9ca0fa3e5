# status: deadlock
# says: roots
def reduce_max_to(rank, size, tensor, dst):
    dist.reduce(tensor, dst=rank, op=dist.ReduceOp.MAX)
    return tensor if rank == dst else None
