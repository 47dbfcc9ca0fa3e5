def setup(rank, world_size, port):
    where, backend = torch.accelerator.current_accelerator(), "gloo"
    if where is not None and torch.accelerator.device_count() >= world_size:
        torch.accelerator.set_device_index(rank)
        backend = dist.get_default_backend_for_device(where)
    dist.init_process_group(
        backend, init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=world_size
    )
    dist.barrier()
