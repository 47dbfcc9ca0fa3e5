# hint: group ignored
def half_precision_hook(group, bucket):
    small = (bucket.buffer() / dist.get_world_size()).half()
    future = dist.all_reduce(small, async_op=True).get_future()
    return future.then(lambda done: done.value()[0].to(bucket.buffer().dtype))
