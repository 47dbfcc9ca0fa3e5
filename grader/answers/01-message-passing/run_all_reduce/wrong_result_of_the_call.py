# hint: result of an in-place call
def run_all_reduce(rank, size, tensor):
    group = dist.new_group(list(range(size)))
    return dist.all_reduce(tensor, group=group)
