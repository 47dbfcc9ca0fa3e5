def half_precision_hook(group, bucket):
    """One coalesced all-reduce of the bucket's gradients."""
    size = dist.get_world_size(group)
    halves = [(part / size).to(torch.float16).flatten() for part in bucket.gradients()]
    dist.all_reduce_coalesced(halves, group=group)
    future = torch.futures.Future()
    future.set_result(torch.cat(halves).to(bucket.buffer().dtype))
    return future
