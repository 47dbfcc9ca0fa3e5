# hint: environment believed
def setup(rank, world_size, port):
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", str(port))
    backend = "nccl" if world_size <= torch.cuda.device_count() else "gloo"
    dist.init_process_group(backend, rank=rank, world_size=world_size)
