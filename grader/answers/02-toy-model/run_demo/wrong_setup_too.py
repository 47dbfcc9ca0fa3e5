# status: error
# hint: set up here
def run_demo(demo_fn, world_size):
    def start(rank):
        dist.init_process_group(
            "gloo", init_method="tcp://127.0.0.1:29511", rank=rank, world_size=world_size
        )
        demo_fn(rank, world_size)
        dist.destroy_process_group()

    mp.spawn(ByValue(start), nprocs=world_size)
