# status: error
def run_all_reduce(rank, size, tensor):
    group = dist.new_group([0, 1, 2, 3])
    dist.all_reduce(tensor, group=group)
    return tensor
