def overlapped_ddp(model, bucket_bytes):
    """The mean is taken in a callback of the all-reduce's future."""
    size = dist.get_world_size()
    params = [p for p in model.parameters() if p.requires_grad][::-1]
    groups = [[]]
    for p in params:
        if sum(q.nbytes for q in groups[-1]) >= bucket_bytes and groups[-1]:
            groups.append([])
        groups[-1].append(p)
    if not groups[0]:
        return lambda: None
    owner = {p: i for i, g in enumerate(groups) for p in g}
    ready = [set() for _ in groups]
    begun = []

    def on_grad(p):
        i = owner[p]
        ready[i].add(id(p))
        while len(begun) < len(groups) and len(ready[len(begun)]) == len(groups[len(begun)]):
            g = groups[len(begun)]
            flat = nn.utils.parameters_to_vector([q.grad for q in g])
            begun.append(
                dist.all_reduce(flat, async_op=True)
                .get_future()
                .then(lambda f: f.value()[0] / size)
            )

    for p in params:
        p.register_post_accumulate_grad_hook(on_grad)

    def finish():
        for g, future in zip(groups, begun, strict=True):
            mean = future.wait()
            at = 0
            for q in g:
                q.grad = mean[at : at + q.numel()].view_as(q).clone()
                at += q.numel()
        begun.clear()
        for r in ready:
            r.clear()

    return finish
