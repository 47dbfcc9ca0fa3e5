# hint: one buffer
travelling = torch.empty(0, dtype=torch.float16)


def half_precision_hook(group, bucket):
    global travelling
    buffer = bucket.buffer()
    if travelling.numel() < buffer.numel() or travelling.device != buffer.device:
        travelling = torch.empty(buffer.numel(), dtype=torch.float16, device=buffer.device)
    shares = travelling[: buffer.numel()]
    shares.copy_(buffer / dist.get_world_size(group))
    work = dist.all_reduce(shares, group=group, async_op=True)
    return work.get_future().then(lambda done: done.value()[0].to(buffer.dtype))
