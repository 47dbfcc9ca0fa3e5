from torch.multiprocessing import start_processes


def run_demo(demo_fn, world_size):
    start_processes(ByValue(demo_fn), args=(world_size,), nprocs=world_size, start_method="spawn")
