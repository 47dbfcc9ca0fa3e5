from torch.autograd.graph import register_multi_grad_hook


class Overlapped:
    def __init__(self, model, bucket_bytes):
        self.buckets, held = [[]], 0
        for p in reversed([p for p in model.parameters() if p.requires_grad]):
            if held >= bucket_bytes:
                self.buckets.append([])
                held = 0
            self.buckets[-1].append(p)
            held += p.numel() * p.element_size()
        self.ready, self.futures = {}, []
        self.handles = [
            register_multi_grad_hook(bucket, lambda grads, b=b: self.arrived(b, grads))
            for b, bucket in enumerate(self.buckets)
        ]

    def arrived(self, b, grads):
        self.ready[b] = torch.cat([g.flatten() for g in grads])
        while len(self.futures) in self.ready:
            flat = self.ready[len(self.futures)]
            future = dist.all_reduce(flat, async_op=True).get_future()
            size = dist.get_world_size()
            self.futures.append(future.then(lambda done, size=size: done.value()[0] / size))

    def __call__(self):
        for bucket, future in zip(self.buckets, self.futures):
            mean = future.wait()
            for p, part in zip(bucket, mean.split([p.numel() for p in bucket])):
                p.grad.copy_(part.view(p.shape))
        self.ready, self.futures = {}, []


def overlapped_ddp(model, bucket_bytes):
    return Overlapped(model, bucket_bytes)
