def wrap(model, device):
    if device.type != "cuda":
        return DistributedDataParallel(model)
    with torch.accelerator.device_index(device.index):
        return DistributedDataParallel(model.cuda(), device_ids=[torch.accelerator.current_device_index()])
