def setup(rank, world_size, port):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = str(port)
    backend = "gloo"
    if torch.cuda.is_available() and torch.cuda.device_count() >= world_size:
        backend = "nccl"
    dist.init_process_group(backend, rank=rank, world_size=world_size)
