# says: GPU
def wrap(model, device):
    rank = dist.get_rank()
    if device.type == "cuda":
        return DistributedDataParallel(model.to(rank), device_ids=[rank])
    return DistributedDataParallel(model)
