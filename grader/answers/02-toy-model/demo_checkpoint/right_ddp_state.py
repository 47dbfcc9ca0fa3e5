def demo_checkpoint(rank, world_size, path):
    device = device_of(rank)
    ddp = DDP(ToyModel().to(device))
    if rank == 0:
        torch.save(ddp.state_dict(), path)
    dist.barrier()
    place = {"cuda:0": f"cuda:{device.index or 0}"}
    ddp.load_state_dict(torch.load(path, map_location=place, weights_only=True))
    return list(ddp.parameters())
