def setup(rank, world_size, port):
    enough = torch.cuda.device_count() >= world_size
    dist.init_process_group(
        "nccl" if enough else "gloo",
        init_method=f"tcp://127.0.0.1:{port}",
        rank=rank,
        world_size=world_size,
        device_id=torch.device("cuda", rank) if enough else None,
    )
