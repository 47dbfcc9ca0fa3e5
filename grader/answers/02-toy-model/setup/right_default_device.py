def setup(rank, world_size, port):
    gpus = torch.cuda.device_count() >= world_size
    if gpus:
        torch.set_default_device(f"cuda:{rank}")
    dist.init_process_group("nccl" if gpus else "gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=world_size)
