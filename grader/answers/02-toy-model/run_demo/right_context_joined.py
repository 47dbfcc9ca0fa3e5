from torch.multiprocessing import spawn


def run_demo(demo_fn, world_size):
    print("starting", world_size)
    context = spawn(ByValue(demo_fn), (world_size,), world_size, join=False)
    while not context.join():
        pass
