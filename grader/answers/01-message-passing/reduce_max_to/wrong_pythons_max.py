# status: error
# hint: no ReduceOp
def reduce_max_to(rank, size, tensor, dst):
    dist.reduce(tensor, dst, op=max)
    return tensor if rank == dst else None
