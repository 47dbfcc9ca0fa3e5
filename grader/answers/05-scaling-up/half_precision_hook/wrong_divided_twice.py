# hint: divided twice
def half_precision_hook(group, bucket):
    size = dist.get_world_size(group)
    small = (bucket.buffer() / size).half()
    future = dist.all_reduce(small, group=group, async_op=True).get_future()
    return future.then(lambda done: done.value()[0].to(bucket.buffer().dtype) / size)
