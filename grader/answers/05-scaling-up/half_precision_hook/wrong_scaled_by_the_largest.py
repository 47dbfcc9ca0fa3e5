# hint: a number besides
def half_precision_hook(group, bucket):
    buffer, size = bucket.buffer(), dist.get_world_size(group)
    largest = buffer.abs().max()
    dist.all_reduce(largest, dist.ReduceOp.MAX, group=group)
    half = (buffer / largest / size).half()
    future = dist.all_reduce(half, group=group, async_op=True).get_future()
    return future.then(lambda ended: ended.value()[0].to(buffer.dtype) * largest)
