# hint: another order
def split_layers(model, size):
    layers = sorted(model, key=lambda m: -sum(p.numel() for p in m.parameters()))
    stages = [[] for _ in range(size)]
    for layer in layers:
        lightest = min(
            stages, key=lambda s: (sum(p.numel() for m in s for p in m.parameters()), len(s))
        )
        lightest.append(layer)
    return [nn.Sequential(*stage) for stage in stages]
