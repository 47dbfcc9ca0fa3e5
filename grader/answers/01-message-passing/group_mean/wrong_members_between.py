# hint: members left alone
def group_mean(rank, size, tensor, members):
    group = dist.new_group(members)
    if members[0] <= rank <= members[-1]:
        dist.all_reduce(tensor, group=group)
        tensor /= len(members)
    return tensor
