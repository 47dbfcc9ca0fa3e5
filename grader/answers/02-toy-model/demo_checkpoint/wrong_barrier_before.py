# status: error
# says: No such file
def demo_checkpoint(rank, world_size, path):
    model = ToyModel()
    dist.barrier()
    if rank == 0:
        torch.save(model.state_dict(), path)
    model.load_state_dict(torch.load(path))
    return list(model.parameters())
