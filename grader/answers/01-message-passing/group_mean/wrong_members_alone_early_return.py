# hint: members alone
# says: never called new_group
def group_mean(rank, size, tensor, members):
    if rank not in members:
        return tensor
    group = dist.new_group(members)
    dist.all_reduce(tensor, group=group)
    return tensor / len(members)
