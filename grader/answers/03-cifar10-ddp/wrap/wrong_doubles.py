# says: dtype float64
def wrap(model, device):
    ids = [device.index] if device.type == "cuda" else None
    return DistributedDataParallel(model.to(device).double(), device_ids=ids)
