def setup(rank, world_size, port):
    gpus = torch.cuda.device_count()
    options = {}
    if world_size <= gpus:
        options = {"backend": "cpu:gloo,cuda:nccl"}
    else:
        options = {"backend": "gloo"}
    dist.init_process_group(
        init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=world_size, **options
    )
