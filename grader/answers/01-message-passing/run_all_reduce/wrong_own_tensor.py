# hint: own tensor
def run_all_reduce(rank, size, tensor):
    group = dist.new_group(list(range(size)))
    total = tensor.clone()
    dist.all_reduce(total, group=group)
    return tensor
