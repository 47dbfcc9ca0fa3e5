# hint: wrong GPU
def wrap(model, device):
    if device.type == "cuda":
        return DistributedDataParallel(model.cuda(), device_ids=[device.index])
    return DistributedDataParallel(model)
