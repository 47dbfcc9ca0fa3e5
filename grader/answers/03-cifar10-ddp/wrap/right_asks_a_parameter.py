def wrap(model, device):
    model = model.to(device)
    where = next(model.parameters()).device
    ids = [where.index] if where.type == "cuda" else None
    return DistributedDataParallel(model, device_ids=ids)
