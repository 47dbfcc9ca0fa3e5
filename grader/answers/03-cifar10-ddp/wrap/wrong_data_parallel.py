# hint: no DDP
def wrap(model, device):
    return nn.DataParallel(model.to(device))
