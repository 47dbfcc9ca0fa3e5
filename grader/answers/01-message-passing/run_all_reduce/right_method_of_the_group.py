def run_all_reduce(rank, size, tensor):
    group = dist.new_group([r for r in reversed(range(size))])
    group.allreduce([tensor]).wait()
    dist.destroy_process_group(group)
    return tensor
