# hint: wrapped twice
def wrap(model, device):
    ids = [device.index] if device.type == "cuda" else None
    inner = DistributedDataParallel(model.to(device), device_ids=ids)
    return DistributedDataParallel(inner, device_ids=ids)
