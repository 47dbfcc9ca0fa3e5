# status: wrong
def demo_checkpoint(rank, world_size, path):
    with torch.device("meta"):
        model = ToyModel()
    real = ToyModel()
    if rank == 0:
        torch.save(real.state_dict(), path)
    dist.barrier()
    state = torch.load(path, weights_only=True)
    model.load_state_dict(state)
    return [p.detach() for p in model.parameters()]
