"""The pictures of lab 05, drawn from what `scaling` and `storage` measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from distlab.processes.wrong_argument import WrongArgument

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE, GREEN, PINK, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#999999"

Repeats = Mapping[int, Sequence[float]]  # number of ranks → a figure for each measurement


def scaling_curves(
    measured: Mapping[str, Repeats],
    scaling: Mapping[str, Mapping[int, Sequence[tuple[float, float]]]],
) -> None:
    """Throughput, speed-up and efficiency over the number of ranks, beside Amdahl's law.

    Args:
        measured: {mode: {ranks: images per second}}, the mode that divides a fixed batch first.
        scaling: {mode: {ranks: (speed-up, efficiency) of each measurement}}.
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
    for (mode, rates), colour, marker in zip(measured.items(), (BLUE, ORANGE), "os", strict=True):
        found = scaling[mode]
        kinds = [rates, *({s: [both[k] for both in found[s]] for s in found} for k in (0, 1))]
        for axis, values in zip(axes, kinds, strict=True):
            means, spreads = (list(map(f, values.values())) for f in (np.mean, np.std))
            axis.errorbar(
                list(values), means, spreads, color=colour, marker=marker, capsize=4,
                label=mode.split(":")[0],
            )  # fmt: skip
    strong, weak = measured
    sizes = list(measured[weak])
    one = np.mean(measured[weak][1])
    axes[0].plot(sizes, [one * size for size in sizes], color=GREY, ls=":", label="perfect")
    axes[1].plot(sizes, sizes, color=GREY, ls=":")
    on_two, _ = np.mean(scaling[strong][2], 0)
    undivided = min(max(2 / on_two - 1, 0), 1)  # the part that Amdahl's law needs for this speed-up
    amdahl = [1 / (undivided + (1 - undivided) / size) for size in sizes]
    label = f"Amdahl, {undivided:.0%} undivided"
    axes[1].plot(sizes, amdahl, color=BLUE, ls="--", lw=1, label=label)
    axes[2].axhline(1, color=GREY, ls=":")
    for axis, label in zip(axes, ("throughput in images/s", "speed-up", "efficiency"), strict=True):
        axis.set(xlabel="ranks", ylabel=label, ylim=(0, None), xticks=sizes)
    axes[0].legend()
    axes[1].legend()
    plt.show()


def division(shares: Sequence[Sequence[Sequence[int]]]) -> None:
    """Which rank reads which sample: `shares[epoch][rank]` is that rank's list of indices."""
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7, 1.8), layout="constrained")
    samples = sum(map(len, shares[0]))
    for epoch, of_ranks in enumerate(shares):
        for rank, indices in enumerate(of_ranks):
            for place, index in enumerate(indices):
                colour = ("#56B4E9", ORANGE, GREEN)[rank]  # black digits can be read on these
                axis.barh(-epoch, 0.94, left=index - 0.47, height=0.8, color=colour)
                axis.text(index, -epoch, f"{rank}.{place}", ha="center", va="center")
    epochs = range(len(shares))
    axis.set(xlabel="sample", xticks=range(samples), yticks=[-epoch for epoch in epochs])
    axis.set_xlim(-0.6, samples - 0.4)
    axis.set_yticklabels([f"epoch {epoch}" for epoch in epochs])
    plt.show()


def smooth(
    losses: Sequence[float], images_per_update: int, window: int = 512
) -> tuple[np.ndarray, list[Any]]:
    """Means over windows of equally many images: (images seen, mean loss)."""
    per_window = max(window // images_per_update, 1)
    means = [np.mean(losses[i : i + per_window]) for i in range(0, len(losses), per_window)]
    return (np.arange(len(means)) + 0.5) * per_window * images_per_update, means


def trainings(trained: Mapping[str, tuple[Sequence[float], float]], test_images: int) -> None:
    """Losses over the images seen, and accuracies, of some trainings.

    Args:
        trained: {name that begins with the images per update: (losses of all updates, accuracy)}.
        test_images: on how many each accuracy was measured.
    """
    import matplotlib.pyplot as plt

    _need_four(trained)
    figure, (curves, bars) = plt.subplots(
        1, 2, figsize=(10, 3.4), width_ratios=(3, 2), layout="constrained"
    )
    colours = (GREY, BLUE, ORANGE, GREEN)
    for (name, (losses, _)), colour, style in zip(
        trained.items(), colours, (":", "--", "-.", "-"), strict=True
    ):
        curves.plot(*smooth(losses, int(name.split()[0])), color=colour, ls=style, label=name, lw=2)
    curves.set(xlabel="images seen", ylabel="training loss, mean of 512 images")
    curves.legend()
    accuracies = [accuracy for _, accuracy in trained.values()]
    bars.bar_label(bars.barh(list(trained), accuracies, color=colours), fmt=" %.3f")
    bars.axvline(0.1, color="black", lw=0.8, ls=":")
    bars.set(xlabel=f"accuracy on {test_images} test images\n(dotted: guessing)")
    bars.tick_params(axis="y", labelsize=8, length=0)
    bars.set_xlim(0, 1.2 * max(accuracies))
    _no_tick_above_one(bars)
    bars.invert_yaxis()
    plt.show()


def _need_four(found: Mapping[str, object]) -> None:
    """The notebook's cell collects them in a loop, which may have been broken off."""
    if len(found) < 4:
        raise WrongArgument(f"{len(found)} of 4 are there: run the cell above to its end")


def _no_tick_above_one(axis: Axes) -> None:
    """No accuracy is there."""
    left, _ = axis.get_xlim()
    axis.set_xticks([tick for tick in axis.get_xticks() if left <= tick <= 1])


def waiting(followed: Mapping[str, Sequence[Sequence[tuple[float, float, float]]]]) -> None:
    """When each rank waits for a batch and when it trains: what `scaling.waits_for_data` told."""
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(10, 2.6), layout="constrained")
    rows = {
        f"{name}, rank {rank}": times
        for name, run in followed.items()
        for rank, times in enumerate(run)
    }
    for row, times in enumerate(rows.values()):
        waits = [(asked, got - asked) for asked, got, _ in times]
        works = [(got, end - got) for _, got, end in times]
        place = (row - 0.38, 0.76)
        drawn = [
            axis.broken_barh(waits, place, color=ORANGE),
            axis.broken_barh(works, place, color=BLUE, edgecolor="white", lw=0.6),
        ]
        waited = sum(seconds for _, seconds in waits[1:]) / (times[-1][2] - times[0][2])
        axis.text(times[-1][2], row, f"  waits {waited:.0%} of the time", va="center")
    axis.set(xlabel="seconds", yticks=range(len(rows)), yticklabels=list(rows))
    axis.set_xlim(0, 1.25 * max(times[-1][2] for times in rows.values()))
    axis.invert_yaxis()
    words = ["waits for a batch", "trains (all-reduce included)"]
    figure.legend(drawn, words, loc="outside upper center", ncols=2)
    plt.show()


def formats(table: Mapping[str, Mapping[str, Any]]) -> None:
    """Speed and space of each form of storage: what `storage.compare` returned."""
    import matplotlib.pyplot as plt

    figure, (speed, space) = plt.subplots(
        1, 2, figsize=(10, 2.8), width_ratios=(3, 2), sharey=True, layout="constrained"
    )
    places = np.arange(len(table))
    for how, colour, marker in (("fetched", BLUE, "o"), ("fetched and decoded", GREEN, "s")):
        rates = [row[how] for row in table.values()]
        speed.errorbar(
            [np.mean(r) for r in rates], places, xerr=[np.std(r) for r in rates],
            color=colour, marker=marker, ms=8, ls="none", capsize=4, label=how,
        )  # fmt: skip
    speed.set(xlabel="images/s (log scale)", xscale="log")
    speed.grid(axis="x", alpha=0.4)
    figure.legend(loc="outside upper center", ncols=2)
    sizes = [row["kilobytes"] for row in table.values()]
    drawn = space.barh(places, sizes, 0.6, color=GREY)
    space.bar_label(drawn, [f" {row['files']} file(s)" for row in table.values()])
    space.set(xlabel="kB on disk for each image", yticks=places, yticklabels=list(table))
    space.set_xlim(0, 1.35 * max(sizes))
    speed.invert_yaxis()
    plt.show()


def compression(found: Mapping[str, tuple[float, float]], test_images: int) -> None:
    """Bytes and accuracy with each way to send gradients.

    Args:
        found: {name: (kB an update, accuracy)}, the uncompressed one first.
        test_images: on how many each accuracy was measured.
    """
    import matplotlib.pyplot as plt

    _need_four(found)
    figure, (sizes, accuracies) = plt.subplots(
        1, 2, figsize=(9, 2.4), sharey=True, layout="constrained"
    )
    colours, names = (GREY, BLUE, GREEN, PINK), list(found)
    kilobytes, points = np.array(list(found.values())).T
    sizes.bar_label(sizes.barh(names, kilobytes, color=colours), fmt=" %.1f")
    sizes.set(xlabel="kB a rank hands to all-reduces for each update")
    sizes.set_xlim(0, 1.2 * kilobytes[0])
    spread = np.sqrt(points * (1 - points) / test_images)
    accuracies.errorbar(points, names, xerr=spread, fmt="none", ecolor="black", capsize=4)
    accuracies.scatter(points, names, color=colours, s=60, zorder=3)
    accuracies.set(xlabel=f"accuracy on {test_images} test images, ± one standard deviation")
    accuracies.locator_params(axis="x", nbins=5)
    _no_tick_above_one(accuracies)
    accuracies.invert_yaxis()
    plt.show()


def options(seconds: Mapping[str, Sequence[float]]) -> None:
    """Time of a step with each option as a multiple of the first one's: from least to most."""
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(8, 2.8), layout="constrained")
    plain = np.median(next(iter(seconds.values())))
    colours = [GREY, *[BLUE] * (len(seconds) - 2), GREEN]
    for (name, times), colour in zip(seconds.items(), colours, strict=True):
        low, middle, high = (f(times) / plain for f in (np.min, np.median, np.max))
        spread = [[middle - low], [high - middle]]
        axis.errorbar(middle, name, xerr=spread, fmt="o", ms=8, color=colour, capsize=4)
    axis.axvline(1, color="black", lw=0.8, ls=":")
    low, high = axis.get_xlim()
    ticks = [tick for tick in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20) if 0.5 * low < tick < high]
    axis.set(xlabel="time of a step, that of the plain one being 1 (log scale)", xscale="log")
    axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.xaxis.set_minor_locator(plt.NullLocator())
    axis.grid(axis="x", alpha=0.4)
    axis.invert_yaxis()
    plt.show()


def at_scale(
    curves: Mapping[str, Mapping[int, float]],
    found: Mapping[str, Mapping[int, tuple[float, float]]],
) -> None:
    """Simulated throughput and efficiency over thousands of GPUs.

    Args:
        curves: {name: {GPUs: images per second}}.
        found: {name: {GPUs: (speed-up, efficiency)}}.
    """
    import matplotlib.pyplot as plt

    figure, (speeds, efficiencies) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    for name, colour, style in zip(
        curves, (BLUE, GREEN, PINK, ORANGE), ("-", "-.", ":", "--"), strict=True
    ):
        look = {"ls": style, "lw": 2, "color": colour}
        speeds.loglog(list(curves[name]), list(curves[name].values()), label=name, **look)
        shares = [efficiency for _, efficiency in found[name].values()]
        efficiencies.semilogx(list(found[name]), shares, **look)
    speeds.set(xlabel="GPUs", ylabel="images/s, simulated")
    efficiencies.set(xlabel="GPUs", ylabel="efficiency, that of 8 GPUs being 1", ylim=(0, 1.05))
    speeds.grid(alpha=0.3)
    efficiencies.grid(alpha=0.3)
    speeds.legend()
    plt.show()
