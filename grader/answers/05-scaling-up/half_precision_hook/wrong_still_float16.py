# hint: still float16
def half_precision_hook(group, bucket):
    small = (bucket.buffer() / dist.get_world_size(group)).half()
    return dist.all_reduce(small, group=group, async_op=True).get_future()
