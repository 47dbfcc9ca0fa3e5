"""Draw parameters that come and go: which layers are whole in a rank's memory, and for how long.

with Gathered(others) as seen:
    fsdp_step(...)
lifetimes.compare({"fsdp_step": seen.moments}, layers=6)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from distlab.course.lab10_sharding_and_overlap.gathered import Moment

_WHOLE = "#0072B2"  # Okabe and Ito's blue
_BYTES = "#D55E00"


def spans(moments: Sequence[Moment], layer: int) -> list[tuple[int, int]]:
    """(begin, end) of each time that a layer was whole, in operations since the first one: from the
    first moment that shows it to the first that no longer does.
    """
    there = [layer in moment.layers for moment in moments]
    edges = np.flatnonzero(np.diff([False, *there, False])).tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))


def compare(runs: Mapping[str, Sequence[Moment]], layers: int):
    """A figure of several runs of a rank, one below the other, over the number of operations: their
    durations mean nothing, because watching a run slows it down.

    A row for each layer, a bar while its parameters are whole; the line is how many bytes of
    tensors the run holds.
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        len(runs),
        1,
        squeeze=False,
        layout="constrained",
        figsize=(9, 0.6 + (0.9 + 0.22 * layers) * len(runs)),
    )
    most = max(m.nbytes for moments in runs.values() for m in moments)
    for axis, (title, moments) in zip(axes[:, 0], runs.items(), strict=True):
        at_once = max(len(m.layers) for m in moments)
        for layer in range(layers):
            for begin, end in spans(moments, layer):
                axis.barh(layer, end - begin, 0.8, begin, color=_WHOLE)
        axis.set_yticks(range(layers), [f"layer {layer}" for layer in range(layers)], fontsize=8)
        axis.set_ylim(layers - 0.4, -0.6)
        _bytes(axis.twinx(), moments, most)
        peak = max(m.nbytes for m in moments) / 1e6
        told = f"{title}: at most {at_once} layers whole, {peak:.1f} MB"
        axis.set_title(told, loc="left", fontsize=10)
        axis.spines["top"].set_visible(False)
    axes[-1, 0].set_xlabel("operations of torch, one after the other")
    return figure


def _bytes(axis, moments: Sequence[Moment], most: int) -> None:
    held = [moment.nbytes / 1e6 for moment in moments]
    axis.step(range(len(moments)), held, where="post", color=_BYTES, lw=1.2)
    axis.set_ylim(0, 1.08 * most / 1e6)
    axis.set_ylabel("MB", color=_BYTES)
    axis.tick_params(axis="y", colors=_BYTES)
    axis.spines["top"].set_visible(False)
