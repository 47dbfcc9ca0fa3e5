def group_mean(rank, size, tensor, members):
    group, _ = dist.new_subgroups_by_enumeration([sorted(members)])
    if group is not None and group != dist.GroupMember.NON_GROUP_MEMBER:
        dist.all_reduce(tensor, group=group)
        tensor /= group.size()
    return tensor
