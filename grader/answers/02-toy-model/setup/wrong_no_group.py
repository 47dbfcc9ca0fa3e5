# hint: no group
def setup(rank, world_size, port):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", str(port)
    return "nccl" if world_size <= torch.cuda.device_count() else "gloo"
