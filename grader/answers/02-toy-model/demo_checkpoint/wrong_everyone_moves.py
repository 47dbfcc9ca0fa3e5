# hint: everyone saves
import os
import tempfile


def demo_checkpoint(rank, world_size, path):
    """Each rank saves a file of its own elsewhere, and all put theirs at the path, rank 0 last."""
    model = ToyModel()
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.dirname(path))) as folder:
        torch.save(model.state_dict(), os.path.join(folder, "model.pt"))
        if rank == 0:
            dist.barrier()
        os.replace(os.path.join(folder, "model.pt"), path)
        if rank != 0:
            dist.barrier()
    dist.barrier()
    model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    return list(model.parameters())
