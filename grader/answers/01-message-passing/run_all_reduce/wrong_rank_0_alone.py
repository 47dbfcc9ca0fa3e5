# hint: on one rank only
def run_all_reduce(rank, size, tensor):
    group = dist.new_group(list(range(size)))
    dist.reduce(tensor, 0, group=group)
    return tensor if rank == 0 else None
