# status: wrong
def demo_checkpoint(rank, world_size, path):
    model = ToyModel()
    if rank == world_size - 1:
        torch.save(model.state_dict(), path)
    dist.barrier()
    model.load_state_dict(torch.load(path))
    return list(model.parameters())
