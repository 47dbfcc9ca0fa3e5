# status: error
# hint: names of the wrapper
def demo_checkpoint(rank, world_size, path):
    model = DDP(ToyModel().to(device_of(rank)))
    if rank == 0:
        torch.save(model.module.state_dict(), path)
    dist.barrier()
    model.load_state_dict(torch.load(path, map_location=device_of(rank)))
    return list(model.parameters())
