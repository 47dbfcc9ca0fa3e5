import warnings


def run_all_reduce(rank, size, tensor):
    warnings.warn("sum by hand")
    group = dist.new_group(ranks=range(size))
    everybody = [torch.empty_like(tensor) for _ in range(size)]
    dist.all_gather(everybody, tensor, group=group)
    return torch.stack(everybody).sum(0)
