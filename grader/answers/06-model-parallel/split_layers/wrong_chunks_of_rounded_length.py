# hint: equally many layers
def split_layers(model, size):
    layers = list(model)
    each = len(layers) // size
    stages = [layers[i * each : (i + 1) * each] for i in range(size)]
    stages[-1] += layers[size * each :]
    return [nn.Sequential(*stage) for stage in stages]
