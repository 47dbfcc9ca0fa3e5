import itertools


class Stages(list):
    """The stages, and how many parameters the largest has."""

    @property
    def largest(self):
        return max(sum(p.numel() for p in stage.parameters()) for stage in self)


def split_layers(model, size):
    ends = itertools.combinations(range(1, len(model)), size - 1)
    ways = (
        Stages(model[a:b] for a, b in zip((0, *cuts), (*cuts, len(model)), strict=True))
        for cuts in ends
    )
    return min(ways, key=lambda stages: stages.largest)
