class Sent:
    def __init__(self, blob):
        self.blob = blob

    def __reduce__(self):
        return cloudpickle.loads, (self.blob,)


def run_demo(demo_fn, world_size):
    torch.multiprocessing.spawn(
        Sent(cloudpickle.dumps(demo_fn)), args=(world_size,), nprocs=world_size, join=True
    )
