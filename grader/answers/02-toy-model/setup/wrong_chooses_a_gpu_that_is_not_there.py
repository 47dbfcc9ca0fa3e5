# status: error
# hint: no CUDA device
def setup(rank, world_size, port):
    torch.cuda.set_device(rank)
    gpus = torch.cuda.device_count() >= world_size
    dist.init_process_group("nccl" if gpus else "gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=world_size)
