# hint: own tensor on dst
def reduce_max_to(rank, size, tensor, dst):
    result = tensor.clone()
    dist.reduce(tensor, dst, op=dist.ReduceOp.MAX)
    return result if rank == dst else None
