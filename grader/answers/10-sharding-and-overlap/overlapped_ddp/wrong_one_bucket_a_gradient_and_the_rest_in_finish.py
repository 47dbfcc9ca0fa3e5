# hint: last bucket in finish
# says: one gradient may set several buckets free
def overlapped_ddp(model, bucket_bytes):
    size = dist.get_world_size()
    ps = [p for p in model.parameters() if p.requires_grad][::-1]
    buckets, held = [[]], 0
    for p in ps:
        if held >= bucket_bytes:
            buckets.append([]); held = 0
        buckets[-1].append(p); held += p.numel() * p.element_size()
    ready, works = set(), []
    def start():
        line = torch.cat([q.grad.reshape(-1) for q in buckets[len(works)]])
        works.append((dist.all_reduce(line, async_op=True), line))
    def hook(p):
        ready.add(p)
        if len(works) < len(buckets) and all(q in ready for q in buckets[len(works)]):
            start()
    for p in ps:
        p.register_post_accumulate_grad_hook(hook)
    def finish():
        while len(works) < len(buckets):
            start()
        for (w, line), b in zip(works, buckets):
            w.wait()
            for q, g in zip(b, line.split([q.numel() for q in b])):
                q.grad = (g / size).reshape(q.shape)
        ready.clear(), works.clear()
    return finish
