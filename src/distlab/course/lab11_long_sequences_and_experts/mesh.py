"""Draw the ranks of a large job as a mesh whose dimensions have names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# black digits can be read on all of them
_COLOURS = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#D55E00")


def draw(groups: Mapping[str, Sequence[int]], size: int, rank: int, told: Mapping[str, str]):
    """A figure: for each dimension the ranks that share a group with one rank.

    Args:
        groups: dimension → the ranks of this rank's group in it, the outermost dimension first.
        size: number of ranks of the job.
        rank: whose groups they are.
        told: dimension → what the name stands for.
    """
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(9, 0.5 + 0.42 * len(groups)), layout="constrained")
    for row, members in enumerate(groups.values()):
        for column in range(size):
            colour = _COLOURS[row % len(_COLOURS)] if column in members else "#8884"
            axis.barh(row, 0.92, 0.8, column - 0.46, color=colour, linewidth=0)
        for member in members:
            weight = "bold" if member == rank else "normal"
            size_of_text = min(9, 260 / size)
            axis.text(
                member, row, member, ha="center", va="center", weight=weight, fontsize=size_of_text
            )
    axis.set_yticks(range(len(groups)), [f"{told.get(name, name)}  {name}" for name in groups])
    axis.invert_yaxis()
    axis.set_xticks(range(0, size, max(1, size // 8)))
    axis.set_xlim(-0.6, size - 0.4)
    axis.set_xlabel(f"rank of {size}; coloured: who shares a group with rank {rank}")
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.tick_params(left=False)
    return figure
