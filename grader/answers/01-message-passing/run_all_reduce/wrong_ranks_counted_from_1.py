# status: error
# hint: no such member
def run_all_reduce(rank, size, tensor):
    group = dist.new_group(list(range(1, size + 1)))
    dist.all_reduce(tensor, group=group)
    return tensor
