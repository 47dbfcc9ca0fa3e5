# hint: environment believed
def setup(rank, world_size, port):
    os.environ["MASTER_PORT"] = str(port)
    backend = "nccl" if world_size <= torch.cuda.device_count() else "gloo"
    dist.init_process_group(backend, rank=rank, world_size=world_size)
