# hint: file removed
def demo_checkpoint(rank, world_size, path):
    model = ToyModel()
    path = f"{path}.{rank}"
    if True:
        torch.save(model.state_dict(), path)
    dist.barrier()
    model.load_state_dict(torch.load(path))
    return list(model.parameters())
