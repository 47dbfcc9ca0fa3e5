from datetime import timedelta
def setup(rank, world_size, port):
    gpu = torch.cuda.is_available() and torch.cuda.device_count() >= world_size
    dist.init_process_group(
        backend="cuda:nccl" if gpu else "cpu:gloo",
        init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=world_size,
        timeout=timedelta(seconds=30),
    )
