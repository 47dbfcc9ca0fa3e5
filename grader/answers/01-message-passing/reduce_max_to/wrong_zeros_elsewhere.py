# hint: not None elsewhere
def reduce_max_to(rank, size, tensor, dst):
    dist.reduce(tensor, dst, op=dist.ReduceOp.MAX)
    return tensor if rank == dst else torch.zeros_like(tensor)
