# hint: not the best cuts
def split_layers(model, size):
    layers = list(model)
    counts = [sum(p.numel() for p in layer.parameters()) for layer in layers]
    goal = sum(counts) / size
    stages, held = [[]], 0
    for number, (layer, count) in enumerate(zip(layers, counts)):
        left = len(layers) - number
        full = held >= goal or left <= size - len(stages)
        if stages[-1] and full and len(stages) < size:
            stages.append([])
            held = 0
        stages[-1].append(layer)
        held += count
    return [nn.Sequential(*stage) for stage in stages]
