from torch.distributed import all_reduce, new_group


def group_mean(rank, size, tensor, members):
    group = new_group(sorted(members))
    total = tensor.clone()
    all_reduce(total, group=group)  # outside the group this only warns
    return total / len(members) if rank in set(members) else tensor
