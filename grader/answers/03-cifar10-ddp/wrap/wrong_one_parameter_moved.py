# hint: not moved
def wrap(model, device):
    first = next(model.parameters())
    first.data = first.data.to(device)
    return DistributedDataParallel(model, device_ids=[device.index] if device.type == "cuda" else None)
