def run_all_reduce(rank, size, tensor):
    group = dist.new_group(list(range(size)), backend="gloo")
    dist.barrier(group)
    total = tensor.clone()
    dist.reduce(total, 0, group=group)
    dist.broadcast(total, 0, group=group)
    dist.barrier(group=group)
    return total
