def half_precision_hook(group: dist.ProcessGroup, bucket: dist.GradBucket):
    share = 1.0 / (dist.get_world_size() if group is None else dist.get_world_size(group))
    travelling = torch.empty(bucket.buffer().shape, dtype=torch.float16, device=bucket.buffer().device)
    torch.mul(bucket.buffer(), share, out=travelling)

    def unpack(future):
        bucket.buffer().copy_(travelling)
        return bucket.buffer()

    return dist.all_reduce(travelling, group=group, async_op=True).get_future().then(unpack)
