# hint: wrapped twice
# says: prefix
def wrap(model, device):
    model = nn.Sequential(model).to(device)
    return DistributedDataParallel(
        model, device_ids=[device.index] if device.type == "cuda" else None
    )
