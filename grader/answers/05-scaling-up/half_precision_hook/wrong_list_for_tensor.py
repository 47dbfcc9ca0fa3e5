# status: error
# hint: a list
def half_precision_hook(group, bucket):
    buffer = bucket.buffer()
    small = (buffer / dist.get_world_size(group)).half()
    future = dist.all_reduce(small, group=group, async_op=True).get_future()
    return future.then(lambda done: done.value().to(buffer.dtype))
