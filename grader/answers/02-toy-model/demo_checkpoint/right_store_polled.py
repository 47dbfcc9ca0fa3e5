def demo_checkpoint(rank, world_size, path):
    model = ToyModel()
    store = dist.distributed_c10d._get_default_store()
    if rank == 0:
        torch.save(model.state_dict(), path)
        store.set("checkpoint", "written")
    while not store.check(["checkpoint"]):
        time.sleep(0.1)
    model.load_state_dict(torch.load(path))
    return [parameter.detach() for parameter in model.parameters()]
