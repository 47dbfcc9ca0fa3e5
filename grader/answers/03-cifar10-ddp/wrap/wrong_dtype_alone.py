# hint: not moved
def wrap(model, device):
    ids = [device.index] if device.type == "cuda" else None
    return DistributedDataParallel(model.to(dtype=torch.float32), device_ids=ids)
