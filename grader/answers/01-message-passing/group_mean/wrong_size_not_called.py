# status: error
# hint: not called
def group_mean(rank, size, tensor, members):
    group = dist.new_group(members)
    if rank in members:
        dist.all_reduce(tensor, group=group)
        tensor /= group.size
    return tensor
