import os


def demo_checkpoint(rank, world_size, path):
    device = device_of(rank)
    model = ToyModel().to(device)
    if rank == 0 and os.path.exists(path):
        os.remove(path)
    dist.barrier()
    if rank == 0:
        torch.save(model.state_dict(), path)
    dist.barrier()
    state = torch.load(path, map_location=device)
    model.load_state_dict(state)
    return [*state.values()]
