# hint: not loaded
def demo_checkpoint(rank, world_size, path):
    model = ToyModel()
    if rank == 0:
        torch.save(model.state_dict(), path)
    dist.barrier()
    if rank > 0:
        model.load_state_dict(torch.load(path))
    return list(model.parameters())
