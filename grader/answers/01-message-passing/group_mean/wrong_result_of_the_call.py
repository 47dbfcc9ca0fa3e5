# status: error
# hint: result of an in-place call
def group_mean(rank, size, tensor, members):
    group = dist.new_group(members)
    if rank in members:
        total = dist.all_reduce(tensor, group=group)
        return total / len(members)
    return tensor
