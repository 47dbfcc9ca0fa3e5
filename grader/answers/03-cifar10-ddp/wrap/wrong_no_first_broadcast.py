# hint: each rank its own weights
def wrap(model, device):
    ids = [device.index] if device.type == "cuda" else None
    return DistributedDataParallel(model.to(device), device_ids=ids, init_sync=False)
