# status: error
# hint: gradient not there yet
def overlapped_ddp(model, bucket_bytes):
    params = [p for p in reversed(list(model.parameters())) if p.requires_grad]
    buckets, filled = [[]], 0
    for p in params:
        if filled >= bucket_bytes:
            buckets.append([])
            filled = 0
        buckets[-1].append(p)
        filled += p.numel() * p.element_size()
    missing, under_way = [], []

    def arrived(number):
        missing[number] -= 1
        while len(under_way) < len(buckets) and missing[len(under_way)] == 0:
            flat = torch.cat([p.grad.reshape(-1) for p in buckets[len(under_way)]])
            under_way.append((flat, dist.all_reduce(flat, async_op=True)))

    def arm():
        missing[:] = [len(b) for b in buckets]
        for number, bucket in enumerate(buckets):
            for p in bucket:
                p.register_post_accumulate_grad_hook(lambda _, n=number: arrived(n))

    arm()

    def finish():
        for number, (flat, request) in enumerate(under_way):
            request.wait()
            flat /= dist.get_world_size()
            for p in buckets[number]:
                p.grad.copy_(flat[: p.numel()].view_as(p))
                flat = flat[p.numel():]
        under_way.clear()
        arm()

    return finish
