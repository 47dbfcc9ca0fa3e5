# hint: another group
def group_mean(rank, size, tensor, members):
    g = dist.new_group(list(range(len(members))))
    if rank < len(members):
        dist.all_reduce(tensor, group=g)
        tensor /= len(members)
    return tensor
