# hint: equally many layers
def split_layers(model, size):
    layers = list(model)
    number = len(layers)
    return [
        nn.Sequential(*layers[i * number // size : (i + 1) * number // size]) for i in range(size)
    ]
