# hint: result of an in-place call
def reduce_max_to(rank, size, tensor, dst):
    return dist.reduce(tensor, dst, op=dist.ReduceOp.MAX)
