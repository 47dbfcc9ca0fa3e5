# hint: rank of the environment
def setup(rank, world_size, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    os.environ["WORLD_SIZE"] = str(world_size)
    dist.init_process_group("nccl" if world_size <= torch.cuda.device_count() else "gloo")
