def wait_for_all(rank):
    dist.all_reduce(torch.zeros(1, device=device_of(rank)))


def demo_checkpoint(rank, world_size, path):
    model = ToyModel()
    if rank == 0:
        with open(path, "wb") as file:
            torch.save(model.cpu().state_dict(), file)
    wait_for_all(rank)
    with open(path, "rb") as file:
        state = torch.load(file, map_location="cpu")
    wait_for_all(rank)
    fresh = ToyModel()
    fresh.load_state_dict(state)
    fresh.to(device_of(rank))
    return [p.detach() for p in fresh.parameters()]
