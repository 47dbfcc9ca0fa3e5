# says: never called dist.new_group
def run_all_reduce(rank, size, tensor):
    dist.all_reduce(tensor)
    return tensor
