# status: error
# hint: no member
def group_mean(rank, size, tensor, members):
    group = dist.new_group(members)
    if rank in members:
        dist.reduce(tensor, 0, group=group)
        dist.broadcast(tensor, 0, group=group)
        tensor /= len(members)
    return tensor
