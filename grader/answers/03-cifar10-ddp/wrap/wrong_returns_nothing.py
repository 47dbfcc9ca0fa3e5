# hint: no DDP
def wrap(model, device):
    ids = [device.index] if device.type == "cuda" else None
    model = DistributedDataParallel(model.to(device), device_ids=ids)
