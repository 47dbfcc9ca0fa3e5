def run_all_reduce(rank, size, tensor):
    g, _ = dist.new_subgroups(group_size=size)
    dist.all_reduce(tensor, group=g)
    return tensor
