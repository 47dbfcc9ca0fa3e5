# hint: called here
def run_demo(demo_fn, world_size):
    print("would run", demo_fn, "on", world_size)
