def wrap(model, device):
    if device.type == "cuda":
        torch.cuda.set_device(device)
        torch.cuda.empty_cache()
        torch.cuda.synchronize()
        print(torch.cuda.get_device_name(device))
    model = model.to(device)
    return DistributedDataParallel(model, device_ids=[device] if device.type == "cuda" else None)
