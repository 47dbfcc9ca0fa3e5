# hint: no such file
# status: error
import os


def demo_checkpoint(rank, world_size, path):
    """Whole at every moment, but nobody waits until it is there."""
    model = ToyModel()
    if rank == 0:
        elsewhere = os.path.join(os.path.dirname(os.path.dirname(path)), "model.pt")
        with open(elsewhere, "wb") as file:
            torch.save(model.state_dict(), file)
        os.replace(elsewhere, path)
    model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    return list(model.parameters())
