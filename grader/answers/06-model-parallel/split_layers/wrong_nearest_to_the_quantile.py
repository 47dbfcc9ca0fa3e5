# hint: not the best cuts
def split_layers(model, size):
    layers = list(model)
    sums = [0]
    for layer in layers:
        sums.append(sums[-1] + sum(p.numel() for p in layer.parameters()))
    cuts = [0]
    for i in range(1, size):
        allowed = range(cuts[-1] + 1, len(layers) - (size - i) + 1)
        cuts.append(min(allowed, key=lambda c: abs(sums[c] - sums[-1] * i / size)))
    cuts.append(len(layers))
    return [nn.Sequential(*layers[a:b]) for a, b in zip(cuts, cuts[1:])]
