def setup(rank, world_size, port):
    backend = "nccl" if world_size <= torch.cuda.device_count() else "cpu:gloo,cuda:gloo"
    dist.init_process_group(backend, init_method=f"tcp://127.0.0.1:{port}?rank={rank}&world_size={world_size}")
