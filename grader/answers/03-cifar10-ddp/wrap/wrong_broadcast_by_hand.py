# hint: no DDP
def wrap(model, device):
    model = model.to(device)
    for parameter in model.parameters():
        dist.broadcast(parameter.data, 0)
    return model
