# status: deadlock
def demo_checkpoint(rank, world_size, path):
    model = ToyModel()
    if rank == 0:
        torch.save(model.state_dict(), path)
        dist.barrier()
    dist.all_reduce(torch.zeros(1))
    model.load_state_dict(torch.load(path))
    return list(model.parameters())
