# hint: no gradient
def wrap(model, device):
    ids = [device.index] if device.type == "cuda" else None
    for p in list(model.parameters())[1:]:
        p.requires_grad_(False)
    return DistributedDataParallel(model.to(device), device_ids=ids)
