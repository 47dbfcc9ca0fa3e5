# hint: models mixed up
READY = []
WORKS = []
def overlapped_ddp(model, bucket_bytes):
    size = dist.get_world_size()
    ps = [p for p in model.parameters() if p.requires_grad][::-1]
    buckets, held = [[]], 0
    for p in ps:
        if held >= bucket_bytes:
            buckets.append([]); held = 0
        buckets[-1].append(p); held += p.numel() * p.element_size()
    def hook(p):
        global READY, WORKS
        READY.append(id(p))
        while len(WORKS) < len(buckets) and all(id(q) in READY for q in buckets[len(WORKS)]):
            line = torch.cat([q.grad.reshape(-1) for q in buckets[len(WORKS)]])
            WORKS.append((dist.all_reduce(line, async_op=True), line))
    for p in ps:
        p.register_post_accumulate_grad_hook(hook)
    def finish():
        global READY, WORKS
        for (w, line), b in zip(WORKS, buckets):
            w.wait()
            for q, g in zip(b, line.split([q.numel() for q in b])):
                q.grad = (g / size).reshape(q.shape)
        READY = []
        WORKS = []
    return finish
