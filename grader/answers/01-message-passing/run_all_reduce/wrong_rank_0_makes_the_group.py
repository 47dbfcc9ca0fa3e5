# status: error
def run_all_reduce(rank, size, tensor):
    if rank == 0:
        group = dist.new_group(list(range(size)))
    dist.all_reduce(tensor, group=group)
    return tensor
