# hint: not compressed
def half_precision_hook(group, bucket):
    buffer = bucket.buffer().div_(dist.get_world_size(group))
    future = dist.all_reduce(buffer, group=group, async_op=True).get_future()
    return future.then(lambda done: done.value()[0].half().to(buffer.dtype))
