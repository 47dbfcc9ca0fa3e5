# status: wrong
def run_all_reduce(rank, size, tensor):
    group = dist.new_group(list(range(size)))
    dist.all_reduce(tensor, group=group)
    return tensor.sum()
