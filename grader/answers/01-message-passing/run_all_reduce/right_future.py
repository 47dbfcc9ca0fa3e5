def run_all_reduce(rank, size, tensor):
    group = dist.new_group()
    future = dist.all_reduce(tensor, group=group, async_op=True).get_future()
    future.wait()
    return tensor
