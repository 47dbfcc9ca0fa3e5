# hint: others changed
def group_mean(rank, size, tensor, members):
    group = dist.new_group(members)
    dist.all_reduce(tensor, group=group)
    tensor /= len(members)
    return tensor
