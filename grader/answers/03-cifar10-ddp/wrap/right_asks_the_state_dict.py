def wrap(model, device):
    model = model.to(device)
    places = {tensor.device for tensor in model.state_dict().values()}
    assert places == {device} == {parameter.data.device for parameter in model.parameters()}
    ids = [device.index] if device.type == "cuda" else None
    return DistributedDataParallel(model, device_ids=ids)
