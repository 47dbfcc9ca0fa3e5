# hint: another divisor
def overlapped_ddp(model, bucket_bytes):
    params = [p for p in model.parameters() if p.requires_grad][::-1]
    buckets, cur, acc = [], [], 0
    for p in params:
        cur.append(p)
        acc += p.numel() * p.element_size()
        if acc >= bucket_bytes:
            buckets.append(cur)
            cur, acc = [], 0
    if cur:
        buckets.append(cur)
    left, works = [len(b) for b in buckets], []

    def hook(p, i):
        left[i] -= 1
        while len(works) < len(buckets) and left[len(works)] == 0:
            f = torch.cat([q.grad.flatten() for q in buckets[len(works)]])
            works.append((f, dist.all_reduce(f, async_op=True)))

    for i, b in enumerate(buckets):
        for p in b:
            p.register_post_accumulate_grad_hook(lambda p, i=i: hook(p, i))

    def finish():
        for k, (f, w) in enumerate(works):
            w.wait()
            f /= 2
            at = 0
            for p in buckets[k]:
                p.grad.copy_(f[at : at + p.numel()].view_as(p))
                at += p.numel()
            left[k] = len(buckets[k])
        works.clear()

    return finish
