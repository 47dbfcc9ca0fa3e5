# says: only waited in a barrier of it
def run_all_reduce(rank, size, tensor):
    group = dist.new_group(list(range(size)))
    dist.barrier(group=group)
    dist.all_reduce(tensor)
    return tensor
