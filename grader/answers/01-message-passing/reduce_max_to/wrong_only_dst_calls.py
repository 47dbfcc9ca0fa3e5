# status: deadlock
def reduce_max_to(rank, size, tensor, dst):
    if rank == dst:
        dist.reduce(tensor, dst, op=dist.ReduceOp.MAX)
        return tensor
