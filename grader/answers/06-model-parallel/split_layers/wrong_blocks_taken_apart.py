# hint: blocks taken apart
import itertools


def split_layers(model, size):
    layers = [m for m in model.modules() if not list(m.children())]

    def largest(cuts):
        return max(
            sum(p.numel() for layer in layers[a:b] for p in layer.parameters())
            for a, b in itertools.pairwise([0, *cuts, len(layers)])
        )

    cuts = min(itertools.combinations(range(1, len(layers)), size - 1), key=largest)
    return [nn.Sequential(*layers[a:b]) for a, b in itertools.pairwise([0, *cuts, len(layers)])]
