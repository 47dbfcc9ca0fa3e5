# hint: not loaded
def demo_checkpoint(rank, world_size, path):
    model = ToyModel()
    if rank == 0:
        torch.save(model.state_dict(), path)
    for p in model.parameters():
        dist.broadcast(p.data, 0)
    return list(model.parameters())
