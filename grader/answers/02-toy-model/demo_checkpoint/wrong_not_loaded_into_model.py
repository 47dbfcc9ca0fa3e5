# hint: own weights
def demo_checkpoint(rank, world_size, path):
    model = ToyModel()
    if rank == 0:
        torch.save(model.state_dict(), path)
    dist.barrier()
    torch.load(path)
    return list(model.parameters())
