# hint: wrong GPU
def wrap(model, device):
    if device.type == "cuda":
        return DistributedDataParallel(model.to("cuda:0"), device_ids=[0])
    return DistributedDataParallel(model.to(device))
