import sys
from pathlib import Path


def demo_checkpoint(rank, world_size, path):
    model = ToyModel().to(device_of(rank))
    told = [None]
    if rank == 0:
        if Path(path).exists():
            Path(path).unlink()
            print("an older file was there", file=sys.stderr)
        torch.save(model.state_dict(), Path(path))
        told = [path]
    dist.broadcast_object_list(told, src=0)
    model.load_state_dict(torch.load(told[0], map_location=lambda storage, loc: storage))
    return list(model.to(device_of(rank)).parameters())
