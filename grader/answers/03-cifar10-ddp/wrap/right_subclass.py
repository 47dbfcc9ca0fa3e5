class Parallel(DistributedDataParallel):
    """DDP, by another name."""


def wrap(model, device):
    moved = model.to(device=device)
    return Parallel(moved, [device.index] if device.index is not None else None)
