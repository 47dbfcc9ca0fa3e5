import os
import tempfile


def demo_checkpoint(rank, world_size, path):
    """Saved in a folder beside the given one, and put at its path by a second name."""
    model = ToyModel()
    if rank == 0:
        with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.dirname(path))) as folder:
            torch.save(model.state_dict(), os.path.join(folder, "model.pt"))
            if os.path.exists(path):
                os.remove(path)
            os.link(os.path.join(folder, "model.pt"), path)
    dist.barrier()
    model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    return list(model.parameters())
