# hint: no list
def split_layers(model, size):
    return nn.Sequential(*model)
