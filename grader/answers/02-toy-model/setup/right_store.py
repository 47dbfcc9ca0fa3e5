import datetime


def setup(rank, world_size, port):
    store = dist.TCPStore(
        "127.0.0.1", port, world_size, is_master=(rank == 0), timeout=datetime.timedelta(seconds=30)
    )
    if world_size <= torch.cuda.device_count() and dist.is_nccl_available():
        torch.cuda.set_device(rank)
        backend = "nccl"
    else:
        backend = "gloo"
    dist.init_process_group(backend, store=store, rank=rank, world_size=world_size)
