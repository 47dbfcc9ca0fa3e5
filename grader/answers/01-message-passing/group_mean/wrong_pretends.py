# status: deadlock
def group_mean(rank, size, tensor, members):
    group = dist.new_group(members)
    if rank == members[0]:
        dist.all_reduce(tensor, group=group)
    return tensor / len(members) if rank in members else tensor
