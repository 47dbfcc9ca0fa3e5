# hint: read before wait
def half_precision_hook(group, bucket):
    small = (bucket.buffer() / dist.get_world_size(group)).half()
    dist.all_reduce(small, group=group, async_op=True)
    future = torch.futures.Future()
    future.set_result(small.to(bucket.buffer().dtype))
    return future
