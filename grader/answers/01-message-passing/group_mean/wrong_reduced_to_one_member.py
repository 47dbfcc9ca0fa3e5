# hint: on one member only
def group_mean(rank, size, tensor, members):
    g = dist.new_group(members)
    if rank in members:
        dist.reduce(tensor, dst=members[0], group=g)
        if rank == members[0]: tensor = tensor / len(members)
    return tensor
