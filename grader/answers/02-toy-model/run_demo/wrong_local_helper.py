# status: error
# hint: not by name
def run_demo(demo_fn, world_size):
    def start(rank):
        demo_fn(rank, world_size)

    mp.spawn(start, nprocs=world_size)
