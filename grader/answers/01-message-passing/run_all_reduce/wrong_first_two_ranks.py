# hint: group of some ranks
def run_all_reduce(rank, size, tensor):
    group = dist.new_group([0, 1] if size > 1 else [0])
    dist.all_reduce(tensor, group=group)
    return tensor
