# hint: called here
def run_demo(demo_fn, world_size):
    context = mp.get_context("spawn")
    processes = [
        context.Process(target=ByValue(demo_fn), args=(rank, world_size)) for rank in range(world_size)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
