# status: error
# hint: called here
# says: in the parent
def run_demo(demo_fn, world_size):
    for rank in range(world_size):
        demo_fn(rank, 1)
    raise SystemExit(1)
