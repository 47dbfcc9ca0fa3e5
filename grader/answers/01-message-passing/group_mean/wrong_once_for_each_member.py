# says: times: every rank calls it once
def group_mean(rank, size, tensor, members):
    for _ in members:
        group = dist.new_group(members)
    if rank in members:
        dist.all_reduce(tensor, group=group)
        tensor /= len(members)
    return tensor
