# hint: older file read
def demo_checkpoint(rank, world_size, path):
    model = ToyModel()
    if rank == 0:
        torch.save(model.state_dict(), path)
    while not os.path.exists(path) or os.path.getsize(path) < 2000:
        time.sleep(0.01)
    time.sleep(0.01)
    model.load_state_dict(torch.load(path))
    return list(model.parameters())
