# hint: not written back
def overlapped_ddp(model, bucket_bytes):
    buckets, held = [[]], 0
    for p in reversed([p for p in model.parameters() if p.requires_grad]):
        if held >= bucket_bytes:
            buckets.append([])
            held = 0
        buckets[-1].append(p)
        held += p.numel() * p.element_size()
    going = []
    counts = [len(bucket) for bucket in buckets]

    def start(b):
        bucket = buckets[b]
        flat = torch.cat([p.grad.flatten() for p in bucket])
        work = dist.all_reduce(flat, async_op=True)
        going.append((bucket, flat, work))

    def hook(b):
        def arrived(p):
            counts[b] -= 1
            while len(going) < len(buckets) and counts[len(going)] == 0:
                start(len(going))
        return arrived

    for b, bucket in enumerate(buckets):
        for p in bucket:
            p.register_post_accumulate_grad_hook(hook(b))

    def finish():
        for bucket, flat, work in going:
            work.wait()
            flat /= dist.get_world_size()
            for p, part in zip(bucket, flat.split([p.numel() for p in bucket])):
                if p.grad.any():
                    p.grad.copy_(part.view_as(p))
        counts[:] = [len(bucket) for bucket in buckets]
        going.clear()

    return finish
