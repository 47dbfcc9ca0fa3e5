# hint: no DDP
def wrap(model, device):
    return model.to(device)
