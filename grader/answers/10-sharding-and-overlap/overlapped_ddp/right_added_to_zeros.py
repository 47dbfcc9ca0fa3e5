def overlapped_ddp(model, bucket_bytes):
    buckets, filled = [[]], 0
    for parameter in reversed([p for p in model.parameters() if p.requires_grad]):
        if filled >= bucket_bytes:
            buckets.append([])
            filled = 0
        buckets[-1].append(parameter)
        filled += parameter.numel() * parameter.element_size()
    missing = [len(bucket) for bucket in buckets]
    under_way = []

    def arrived(number):
        missing[number] -= 1
        while len(under_way) < len(buckets) and missing[len(under_way)] == 0:
            flat = torch.cat([p.grad.reshape(-1) for p in buckets[len(under_way)]]); [p.grad.zero_() for p in buckets[len(under_way)]]
            under_way.append((flat, dist.all_reduce(flat, async_op=True)))

    for number, bucket in enumerate(buckets):
        for parameter in bucket:
            parameter.register_post_accumulate_grad_hook(lambda _, n=number: arrived(n))

    def finish():
        for number, (flat, request) in enumerate(under_way):
            request.wait()
            flat /= dist.get_world_size()
            for parameter in buckets[number]:
                parameter.grad.add_(flat[: parameter.numel()].view_as(parameter))
                flat = flat[parameter.numel() :]
            missing[number] = len(buckets[number])
        under_way.clear()

    return finish
