def wrap(model, device):
    if device.type == "cpu":
        return DistributedDataParallel(model)
    with torch.cuda.device(device):
        return DistributedDataParallel(model.cuda(), device_ids=[device.index])
