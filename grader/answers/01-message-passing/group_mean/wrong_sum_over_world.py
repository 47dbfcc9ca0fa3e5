# hint: sum over the world
def group_mean(rank, size, tensor, members):
    dist.new_group(members)
    total = tensor.clone()
    dist.all_reduce(total)
    return total / len(members) if rank in members else tensor
