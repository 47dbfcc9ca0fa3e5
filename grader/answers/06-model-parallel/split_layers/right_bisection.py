def split_layers(model, size):
    layers = list(model.children())
    counts = [sum(p.numel() for p in layer.parameters()) for layer in layers]

    def fill(limit):
        stages, held = [[]], 0
        for number, (layer, count) in enumerate(zip(layers, counts)):
            left = len(layers) - number
            must = left <= size - len(stages)  # one layer for each stage that is still to come
            if stages[-1] and (held + count > limit or must):
                stages.append([])
                held = 0
            stages[-1].append(layer)
            held += count
        return stages

    low, high = max(counts), sum(counts)
    while low < high:
        middle = (low + high) // 2
        if len(fill(middle)) <= size:
            high = middle
        else:
            low = middle + 1
    return [nn.Sequential(*stage) for stage in fill(low)]
