# hint: zeros reduced
def overlapped_ddp(model, bucket_bytes):
    buckets, room = [], 0
    for parameter in reversed([p for p in model.parameters() if p.requires_grad]):
        if room <= 0:
            buckets.append([])
            room = bucket_bytes
        buckets[-1].append(parameter)
        room -= parameter.numel() * parameter.element_size()
    missing, going = [len(bucket) for bucket in buckets], []

    def gradient_of(parameter):
        return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad

    def arrived(number):
        missing[number] -= 1
        while len(going) < len(buckets) and missing[len(going)] == 0:
            flat = torch.cat([gradient_of(p).flatten() for p in buckets[len(going)]])
            going.append((flat, dist.all_reduce(flat, async_op=True)))

    for number, bucket in enumerate(buckets):
        for parameter in bucket:
            parameter.register_hook(lambda gradient, number=number: arrived(number))

    def finish():
        for bucket, (flat, request) in zip(buckets, going):
            request.wait()
            flat /= dist.get_world_size()
            for parameter, part in zip(bucket, flat.split([p.numel() for p in bucket])):
                parameter.grad = part.view_as(parameter).clone()
        going.clear()
        missing[:] = [len(bucket) for bucket in buckets]

    return finish
