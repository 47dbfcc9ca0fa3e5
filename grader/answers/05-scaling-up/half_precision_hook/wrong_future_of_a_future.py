# status: error
# hint: no value for DDP
def half_precision_hook(group, bucket):
    small = (bucket.buffer() / dist.get_world_size(group)).half()
    future = dist.all_reduce(small, group=group, async_op=True).get_future()
    return torch.futures.collect_all([future])
