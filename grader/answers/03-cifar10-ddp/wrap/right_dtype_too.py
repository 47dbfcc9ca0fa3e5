def wrap(model, device):
    model = model.to(torch.float32).to(device)
    return DistributedDataParallel(model, [device] if device.type == "cuda" else None)
