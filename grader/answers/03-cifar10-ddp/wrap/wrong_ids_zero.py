# hint: wrong device_ids
def wrap(model, device):
    if device.type == "cuda":
        return DistributedDataParallel(model.to(device), device_ids=[0])
    return DistributedDataParallel(model.to(device))
