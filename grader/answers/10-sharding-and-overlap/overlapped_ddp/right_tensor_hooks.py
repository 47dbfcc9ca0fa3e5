def overlapped_ddp(model, bucket_bytes):
    buckets, held = [], bucket_bytes
    for p in reversed(list(filter(lambda p: p.requires_grad, model.parameters()))):
        if held >= bucket_bytes:
            buckets.append([])
            held = 0
        buckets[-1].append(p)
        held += p.nbytes
    place = {p: b for b, bucket in enumerate(buckets) for p in bucket}
    came, going = {}, []

    def hook_of(p):
        def hook(gradient):
            came[p] = gradient.detach().clone()
            while len(going) < len(buckets) and all(q in came for q in buckets[len(going)]):
                flat = torch.cat([came[q].reshape(-1) for q in buckets[len(going)]])
                going.append((flat, dist.all_reduce(flat, async_op=True)))

        return hook

    for p in place:
        p.register_hook(hook_of(p))

    def finish():
        for b, (flat, work) in enumerate(going):
            work.wait()
            at = 0
            for p in buckets[b]:
                p.grad.copy_(flat[at : at + p.numel()].view_as(p) / dist.get_world_size())
                at += p.numel()
        came.clear()
        going.clear()

    return finish
