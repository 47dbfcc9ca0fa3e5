def overlapped_ddp(model, bucket_bytes):
    size, bucket, going = dist.get_world_size(), [], []

    def start():
        flat = torch.cat([p.grad.flatten() for p in bucket])
        going.append((list(bucket), flat, dist.all_reduce(flat, async_op=True)))
        bucket.clear()

    def hook(p):
        bucket.append(p)
        if sum(p.numel() * p.element_size() for p in bucket) >= bucket_bytes:
            start()

    for p in model.parameters():
        if p.requires_grad:
            p.register_post_accumulate_grad_hook(hook)

    def finish():
        if bucket:
            start()
        for ready, flat, work in going:
            work.wait()
            for p, part in zip(ready, (flat / size).split([p.numel() for p in ready])):
                p.grad.copy_(part.view_as(p))
        going.clear()

    return finish
