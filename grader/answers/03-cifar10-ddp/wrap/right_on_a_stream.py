def wrap(model, device):
    """As PyTorch's notes on CUDA graphs have it: DDP is made on a stream of its own."""
    if device.type != "cuda":
        return DistributedDataParallel(model)
    model = model.to(device)
    stream = torch.cuda.Stream(device)
    stream.wait_stream(torch.cuda.current_stream(device))
    with torch.cuda.stream(stream):
        model = DistributedDataParallel(model, device_ids=[device.index])
    torch.cuda.current_stream(device).wait_stream(stream)
    return model
