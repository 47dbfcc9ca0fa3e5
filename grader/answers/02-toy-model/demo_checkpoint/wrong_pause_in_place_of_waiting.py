# status: error
# hint: no such file
def demo_checkpoint(rank, world_size, path):
    model = ToyModel()
    if rank == 0:
        torch.save(model.state_dict(), path)
    else:
        time.sleep(1)
    model.load_state_dict(torch.load(path))
    return list(model.parameters())
