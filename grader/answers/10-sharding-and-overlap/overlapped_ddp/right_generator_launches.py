def overlapped_ddp(model, bucket_bytes):
    """A generator launches the buckets in order; hooks push it on."""
    buckets = [[]]
    for p in reversed([p for p in model.parameters() if p.requires_grad]):
        if buckets[-1] and sum(q.nbytes for q in buckets[-1]) >= bucket_bytes:
            buckets.append([])
        buckets[-1].append(p)

    def launcher():
        arrived = set()
        work = []
        for bucket in buckets:
            while not arrived.issuperset(bucket):
                arrived.add((yield work))
            flat = torch.cat([p.grad.reshape(-1) for p in bucket])
            work.append((bucket, flat, dist.all_reduce(flat, async_op=True)))
        while True:
            yield work

    state = {}
    def start():
        state["it"] = launcher()
        state["work"] = next(state["it"])
    start()

    def push(p):
        state["it"].send(p)

    for bucket in buckets:
        for p in bucket:
            p.register_post_accumulate_grad_hook(push)

    def finish():
        for bucket, flat, request in state["work"]:
            request.wait()
            means = (flat / dist.get_world_size()).split([p.numel() for p in bucket])
            for p, mean in zip(bucket, means):
                p.grad = mean.reshape(p.shape).clone()
        start()
    return finish
