# status: error
# says: whether there is a GPU does not say
def wrap(model, device):
    if not torch.cuda.is_available():
        return DistributedDataParallel(model)
    torch.cuda.set_device(device)
    return DistributedDataParallel(model.cuda(), device_ids=[device])
