def group_mean(rank, size, tensor, members):
    group = dist.new_group(members)
    if rank not in members:
        return tensor
    dist.all_reduce(tensor, op=dist.ReduceOp.SUM, group=group)
    return tensor / len(members)
