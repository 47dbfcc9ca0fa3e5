# hint: layers lost
import itertools


def split_layers(model, size):
    def largest(cuts):
        return max(
            sum(p.numel() for p in model[a:b].parameters())
            for a, b in itertools.pairwise([0, *cuts, len(model)])
        )

    cuts = min(itertools.combinations(range(1, len(model)), size - 1), key=largest)
    return [model[a:b] for a, b in itertools.pairwise([0, *cuts, len(model) - 1])]
