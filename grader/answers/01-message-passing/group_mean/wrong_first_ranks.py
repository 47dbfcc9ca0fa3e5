# status: deadlock
def group_mean(rank, size, tensor, members):
    group = dist.new_group(members)
    if rank < len(members):
        dist.all_reduce(tensor, group=group)
        tensor /= len(members)
    return tensor
