"""TensorFlow's strategies drawn from what ran: who holds the variables, what travels, who did
which step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from distlab.course.lab08_tensorflow_strategies import placement
from distlab.course.lab08_tensorflow_strategies.placement import EVERYBODY, Placement
from distlab.course.lab08_tensorflow_strategies.servers import Story

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WEIGHTS, GRADIENTS, DEVICE = "#0072B2", "#D55E00", "#999999"  # told apart by the colour-blind
_STEPS = ["#56B4E9", "#E69F00", "#009E73", "#CC79A7"]
_WIDTH, _HEIGHT, _APART = 1.0, 0.66, 1.8
_CENTRED: Any = {"ha": "center", "va": "center"}


def four(found: Sequence[Sequence[Placement]]) -> Figure:
    """A panel for each strategy, from one placement of each of its processes."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(10, 5.4), layout="constrained")
    for axis, placements in zip(axes.flat, found, strict=True):
        _panel(axis, placements)
    figure.legend(
        handles=[
            plt.Rectangle((0, 0), 1, 1, color=WEIGHTS, label="variables"),
            plt.Line2D([], [], color=WEIGHTS, label="weights that travel in a step"),
            plt.Line2D([], [], color=GRADIENTS, label="gradients that travel in a step"),
        ],
        loc="outside lower center",
        ncols=3,
        frameon=False,
    )
    plt.close(figure)  # what a cell returns is shown: once is enough
    return figure


def _panel(axis: Axes, placements: Sequence[Placement]) -> None:
    holds, travels, replicas = _together(placements)
    names = sorted(set(holds) | set(replicas), key=lambda name: (name not in holds, name))
    names.sort(key=lambda name: name.startswith("ps"))
    places = _places(names, holds, replicas)
    for name, (x, y) in places.items():
        _box(axis, name, x, y, holds.get(name, 0), name in replicas)
    for (start, end, what), size in travels.items():
        _arrow(axis, places, start, end, what, size)
    axis.set_title(placements[0].name, fontsize=11)
    axis.set(xlim=(-0.6, 4.1), ylim=(-0.15, 2.5), aspect="equal")
    axis.axis("off")


def _together(placements: Sequence[Placement]) -> tuple[dict, dict, list[str]]:
    """(holds, travels, replicas) of all processes of a strategy, put together."""
    holds: dict[str, int] = {}
    travels: dict[tuple[str, str, str], int] = {}
    replicas: list[str] = []
    for one in placements:
        holds.update(one.holds)
        replicas += [name for name in one.replicas if name not in replicas]
        travels.update(one.travels)
    everybody = [key for key in travels if key[1] == EVERYBODY]
    for key in everybody:
        first, last, what = min(replicas), max(replicas), key[2]
        travels[first, last, what] = travels[last, first, what] = travels.pop(key)
    return holds, travels, replicas


def _places(names: list[str], holds: dict, replicas: list[str]) -> dict[str, tuple[float, float]]:
    """Places of the boxes: what computes side by side, what only keeps variables above that."""
    low = [name for name in names if name in replicas]
    high = [name for name in names if name not in replicas]
    places = {name: (i * 2.5, 0.0 if high else 0.8) for i, name in enumerate(low)}
    return places | {name: (1.25, _APART) for name in high}


def _box(axis: Axes, name: str, x: float, y: float, size: int, computes: bool) -> None:
    import matplotlib.pyplot as plt

    box = plt.Rectangle((x, y), _WIDTH, _HEIGHT, fill=False, edgecolor=DEVICE, lw=1.5, zorder=2)
    axis.add_patch(box)
    said = f"{name}\ncomputes" if computes else name
    axis.text(x + _WIDTH / 2, y + _HEIGHT * 0.66, said, fontsize=8.5, **_CENTRED)
    if size:
        axis.add_patch(
            plt.Rectangle((x + 0.06, y + 0.05), _WIDTH - 0.12, 0.2, color=WEIGHTS, zorder=2)
        )
        axis.text(
            x + _WIDTH / 2, y + 0.15, _bytes(size), color="white", fontsize=8, zorder=3, **_CENTRED
        )


def _arrow(axis: Axes, places: dict, start: str, end: str, what: str, size: int) -> None:
    (x1, y1), (x2, y2) = places[start], places[end]
    colour = WEIGHTS if what == placement.WEIGHTS else GRADIENTS
    if y1 == y2:  # side by side
        up = 1 if what == placement.WEIGHTS or x1 < x2 else -1
        y = y1 + _HEIGHT / 2 + 0.14 * up
        begin, finish = (x1 + _WIDTH * (x1 < x2), y), (x2 + _WIDTH * (x2 < x1), y)
        middle = ((begin[0] + finish[0]) / 2, y + 0.14 * up)
    else:  # from below or from above; the weights' arrows outside
        low = min((x1, y1), (x2, y2), key=lambda place: place[1])
        side = -1 if low[0] < 1.25 else 1
        shift = 0.16 * side * (1 if what == placement.WEIGHTS else -1)
        foot = (low[0] + _WIDTH / 2 + shift, low[1] + _HEIGHT)
        head = (1.25 + _WIDTH / 2 + 0.3 * side + shift, _APART)
        begin, finish = (head, foot) if y1 > y2 else (foot, head)
        middle = ((foot[0] + head[0]) / 2 + 2.2 * shift, (foot[1] + head[1]) / 2)
    axis.annotate(
        "", finish, begin, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2}, zorder=4
    )
    axis.text(*middle, _bytes(size), color=colour, fontsize=8.5, **_CENTRED)


def _bytes(size: int) -> str:
    return f"{size / 1000:.1f} kB" if size >= 1000 else f"{size} B"


def steps(bars: Sequence[Any], story: Story) -> Figure:
    """Which process did which step and when, and when one was killed.

    Args:
        bars: of each step (process, begin, end); times in seconds since 1970.
        story: what became of the processes.
    """
    import matplotlib.pyplot as plt

    workers = [(index, pid) for job, index, pid in story.processes if job == "worker"]
    rows = {pid: row for row, (_, pid) in enumerate(workers)}
    times = [story.killed] if story.killed else []
    zero = min([float(begin) for _, begin, _ in bars] + times)
    figure, axis = plt.subplots(figsize=(9, 0.7 * len(workers) + 1.2), layout="constrained")
    axis.use_sticky_edges = False  # with a margin, the word beside the first bar has room
    axis.margins(x=0.08)
    for number, (pid, begin, end) in enumerate(bars):
        row, left, width = rows[int(pid)], float(begin) - zero, float(end - begin)
        axis.barh(row, width, 0.6, left, color=_STEPS[row % len(_STEPS)], edgecolor="white")
        if width > 0.02:
            axis.text(left + width / 2, row, str(number), fontsize=8, **_CENTRED)
    if story.killed:
        lost = [row for row, (index, _) in enumerate(workers) if index == story.lost][:1]
        axis.plot([story.killed - zero] * len(lost), lost, "x", color=GRADIENTS, ms=12, mew=3)
    for when, said, side in ((story.killed, "killed ", "right"), (story.back, " back", "left")):
        if when:
            axis.axvline(when - zero, color=GRADIENTS, ls="--")
            axis.text(when - zero, -0.62, said, color=GRADIENTS, va="center", ha=side)
    names: list[str] = []
    for index, _ in workers:
        name = f"worker {index}"
        names.append(f"{name}, started again" if name in names else name)
    axis.set_yticks(range(len(workers)), names)
    axis.set(xlabel="seconds (numbers: the steps as they were scheduled)", ylim=(-0.9, None))
    axis.invert_yaxis()
    axis.margins(x=0.05)
    plt.close(figure)
    return figure
