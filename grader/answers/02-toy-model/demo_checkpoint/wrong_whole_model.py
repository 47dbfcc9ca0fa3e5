# status: error
# hint: objects saved
def demo_checkpoint(rank, world_size, path):
    model = ToyModel()
    if rank == 0:
        torch.save(model, path)
    dist.barrier()
    model.load_state_dict(torch.load(path))
    return list(model.parameters())
