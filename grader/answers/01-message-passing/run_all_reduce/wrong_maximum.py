# hint: another operation
def run_all_reduce(rank, size, tensor):
    group = dist.new_group(list(range(size)))
    dist.all_reduce(tensor, op=dist.ReduceOp.MAX, group=group)
    return tensor
