# status: error
def wrap(model, device):
    return DistributedDataParallel(model.to(device), device_ids=[device.index])
