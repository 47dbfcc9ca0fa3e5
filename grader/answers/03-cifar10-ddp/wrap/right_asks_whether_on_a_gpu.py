def wrap(model, device):
    model = model.to(device)
    on_gpu = next(model.parameters()).is_cuda
    return DistributedDataParallel(model, device_ids=[device.index] if on_gpu else None)
