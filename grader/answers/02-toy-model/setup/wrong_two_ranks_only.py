# status: error or timeout
def setup(rank, world_size, port):
    backend = "nccl" if world_size <= torch.cuda.device_count() else "gloo"
    dist.init_process_group(
        backend, init_method=f"tcp://127.0.0.1:{port}", rank=rank % 2, world_size=2
    )
