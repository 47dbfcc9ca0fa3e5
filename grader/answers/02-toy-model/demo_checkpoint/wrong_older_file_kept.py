# hint: older file kept
def demo_checkpoint(rank, world_size, path):
    model = ToyModel()
    if rank == 0 and not os.path.exists(path):
        torch.save(model.state_dict(), path)
    dist.barrier()
    model.load_state_dict(torch.load(path))
    return list(model.parameters())
