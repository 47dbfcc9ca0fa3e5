# says: called new_group 2 times
def group_mean(rank, size, tensor, members):
    group = dist.new_group(members)
    others = [r for r in range(size) if r not in members]
    dist.new_group(others or members)
    if rank in members:
        dist.all_reduce(tensor, group=group)
        tensor /= len(members)
    return tensor
