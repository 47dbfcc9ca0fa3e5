# hint: equally many layers
import itertools


def split_layers(model, size):
    def largest(cuts):
        ends = [0, *cuts, len(model)]
        return max(len(list(model[a:b].parameters())) for a, b in itertools.pairwise(ends))

    cuts = min(itertools.combinations(range(1, len(model)), size - 1), key=largest)
    ends = [0, *cuts, len(model)]
    return [model[a:b] for a, b in itertools.pairwise(ends)]
