# hint: failure swallowed
def run_demo(demo_fn, world_size):
    try:
        mp.spawn(ByValue(demo_fn), args=(world_size,), nprocs=world_size)
    except Exception as error:
        print("a rank failed:", error)
