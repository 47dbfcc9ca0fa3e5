# status: deadlock
def run_all_reduce(rank, size, tensor):
    group = dist.new_group(list(range(size)))
    dist.all_reduce(tensor, group=None if rank == 0 and size > 1 else group)
    return tensor
