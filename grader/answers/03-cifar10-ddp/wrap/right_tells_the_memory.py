def wrap(model, device):
    if device.type == "cpu":
        return DistributedDataParallel(model)
    torch.cuda.set_device(device)
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    model = model.to(device)
    print("the model takes", torch.cuda.memory_allocated() - before, "bytes")
    return DistributedDataParallel(model, device_ids=[device.index])
