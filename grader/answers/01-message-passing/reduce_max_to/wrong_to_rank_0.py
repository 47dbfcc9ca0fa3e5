# hint: on another rank than dst
def reduce_max_to(rank, size, tensor, dst):
    dist.reduce(tensor, 0, op=dist.ReduceOp.MAX)
    return tensor if rank == 0 else None
