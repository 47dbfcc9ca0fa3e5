# says: is `dist.all_gather(out, half, group=group)`.
def half_precision_hook(group, bucket):
    """Right values; each rank is sent all of every other's gradients."""
    buffer, size = bucket.buffer(), dist.get_world_size(group)
    half = (buffer / size).half()
    out = [torch.empty_like(half) for _ in range(size)]
    dist.all_gather(out, half, group=group)
    future = torch.futures.Future()
    future.set_result(sum(one.to(buffer.dtype) for one in out))
    return future
