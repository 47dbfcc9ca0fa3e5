def wrap(model, device):
    if device.type == "cuda":
        torch.cuda.set_device(device)
        return DistributedDataParallel(model.cuda(), device_ids=[torch.cuda.current_device()])
    return DistributedDataParallel(model)
