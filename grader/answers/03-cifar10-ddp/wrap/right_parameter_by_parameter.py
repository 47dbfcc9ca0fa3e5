def wrap(model, device):
    for tensor in [*model.parameters(), *model.buffers()]:
        tensor.data = tensor.data.to(device)
    return DistributedDataParallel(model, device_ids=[device.index] if device.type == "cuda" else None)
