# hint: port not used
def setup(rank, world_size, port):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", "29517"
    backend = "nccl" if world_size <= torch.cuda.device_count() else "gloo"
    dist.init_process_group(backend, rank=rank, world_size=world_size)
