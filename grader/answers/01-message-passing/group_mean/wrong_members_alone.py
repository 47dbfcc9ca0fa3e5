# hint: members alone
# says: never called new_group
def group_mean(rank, size, tensor, members):
    if rank in members:
        group = dist.new_group(members)
        dist.all_reduce(tensor, group=group)
        tensor /= len(members)
    return tensor
