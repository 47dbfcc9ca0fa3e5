def wrap(model, device):
    on_gpu = device.type == "cuda"
    model._apply(lambda tensor: tensor.cuda(device) if on_gpu else tensor.to(device))
    return DistributedDataParallel(model, device_ids=[device] if on_gpu else None)
