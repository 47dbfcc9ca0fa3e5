def setup(rank, world_size, port):
    enough = torch.cuda.device_count() >= world_size
    if enough:
        torch.cuda.set_device(f"cuda:{rank}")
        torch.cuda.empty_cache()
        which = torch.cuda.current_device()
        assert which == rank == torch.accelerator.current_device_index()
        print(f"rank {rank} takes GPU {which}, {torch.cuda.get_device_name(which)}")
    dist.init_process_group(
        "nccl" if enough else "gloo", init_method=f"tcp://127.0.0.1:{port}",
        rank=rank, world_size=world_size,
    )  # fmt: skip
