# status: error
# hint: device_ids on a CPU
def wrap(model, device):
    return DistributedDataParallel(model.to(device), device_ids=[device.index])
