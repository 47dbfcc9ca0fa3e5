# hint: file removed
def demo_checkpoint(rank, world_size, path):
    model = ToyModel()
    if rank == 0:
        torch.save(model.state_dict(), path)
    dist.barrier()
    model.load_state_dict(torch.load(path))
    dist.barrier()
    if rank == 0:
        os.remove(path)
    return list(model.parameters())
