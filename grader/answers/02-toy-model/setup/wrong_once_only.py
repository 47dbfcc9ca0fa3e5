# hint: no group
DONE = []


def setup(rank, world_size, port):
    if DONE:
        return
    DONE.append(True)
    backend = "nccl" if world_size <= torch.cuda.device_count() else "gloo"
    dist.init_process_group(
        backend, init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=world_size
    )
