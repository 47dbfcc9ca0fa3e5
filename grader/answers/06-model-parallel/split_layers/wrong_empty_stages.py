# hint: empty stage
def split_layers(model, size):
    layers = list(model)
    counts = [sum(p.numel() for p in layer.parameters()) for layer in layers]
    limit = max(counts)
    while True:
        stages, held = [[]], 0
        for layer, count in zip(layers, counts):
            if held + count > limit:
                stages.append([])
                held = 0
            stages[-1].append(layer)
            held += count
        if len(stages) <= size:
            break
        limit += 1
    stages += [[] for _ in range(size - len(stages))]
    return [nn.Sequential(*stage) for stage in stages]
