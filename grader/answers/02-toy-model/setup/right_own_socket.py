import socket
def setup(rank, world_size, port):
    backend = "nccl" if torch.cuda.device_count() >= world_size else "gloo"
    fd = None
    if rank == 0:
        s = socket.socket(); s.bind(("127.0.0.1", port)); s.listen(64); fd = s.detach()
    store = dist.TCPStore("127.0.0.1", port, world_size, rank == 0, master_listen_fd=fd)
    dist.init_process_group(backend, store=store, rank=rank, world_size=world_size)
