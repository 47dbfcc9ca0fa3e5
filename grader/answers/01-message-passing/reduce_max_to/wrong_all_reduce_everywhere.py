# hint: not None elsewhere
def reduce_max_to(rank, size, tensor, dst):
    dist.all_reduce(tensor, op=dist.ReduceOp.MAX)
    return tensor
