# hint: group of some ranks
def run_all_reduce(rank, size, tensor):
    g = dist.new_group(list(range(size - 1)))
    dist.all_reduce(tensor, group=g)
    return tensor
