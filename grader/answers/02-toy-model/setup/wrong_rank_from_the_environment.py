# status: error
def setup(rank, world_size, port):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", str(port)
    backend = "nccl" if world_size <= torch.cuda.device_count() else "gloo"
    dist.init_process_group(backend)
