# hint: no device_ids
def wrap(model, device):
    return DistributedDataParallel(model.to(device))
