# hint: overflow
def half_precision_hook(group, bucket):
    small = bucket.buffer().half()
    future = dist.all_reduce(small, group=group, async_op=True).get_future()
    size = dist.get_world_size(group)
    return future.then(lambda done: done.value()[0].to(bucket.buffer().dtype) / size)
