import warnings


def setup(rank, world_size, port):
    warnings.warn("a warning decides nothing")
    os.environ.update(
        MASTER_ADDR="localhost", MASTER_PORT=f"{port}", RANK=f"{rank}", WORLD_SIZE=f"{world_size}"
    )
    enough = torch.cuda.device_count() >= world_size
    dist.init_process_group(backend="nccl" if enough else "gloo", init_method="env://")
    print("rank", dist.get_rank(), "is in")
