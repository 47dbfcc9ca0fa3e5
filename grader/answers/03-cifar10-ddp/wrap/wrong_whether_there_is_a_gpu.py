# hint: device_ids on a CPU
def wrap(model, device):
    device_ids = [device.index] if torch.cuda.is_available() else None
    return DistributedDataParallel(model.to(device), device_ids=device_ids)
