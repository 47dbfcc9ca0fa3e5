# hint: moved too late
def wrap(model, device):
    ids = [device.index] if device.type == "cuda" else None
    return DistributedDataParallel(model, device_ids=ids).to(device)
