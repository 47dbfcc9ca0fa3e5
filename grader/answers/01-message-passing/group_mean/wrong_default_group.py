# status: deadlock
# says: a call without one runs in the default group
def group_mean(rank, size, tensor, members):
    dist.new_group(members)
    if rank in members:
        dist.all_reduce(tensor)
        tensor /= len(members)
    return tensor
