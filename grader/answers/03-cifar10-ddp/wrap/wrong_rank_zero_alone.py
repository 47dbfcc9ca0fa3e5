# status: deadlock
def wrap(model, device):
    ids = [device.index] if device.type == "cuda" else None
    if device.type == "cuda" or dist.get_rank() == 0:
        return DistributedDataParallel(model.to(device), device_ids=ids)
    return model
