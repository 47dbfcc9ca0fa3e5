"""How far do the images let networks come? Test accuracies of longer training and wider networks.

Where no training reaches a goal, no other option will: then it is the images that set the limit.
On a GPU all images and the epochs below; on a CPU few images for one epoch, which says nothing but
that it runs.

python -m bench.ceiling [--limit 400] [--seconds 300]
"""

from __future__ import annotations

import argparse
import functools
import sys
import time
from typing import NamedTuple
from unittest import mock

import cloudpickle

from bench import header
from bench.speedrun import trained
from distlab import Ranks
from distlab.rank import world
from distlab.training import small_net

SMALL = (
    "--model small --whiten --optimizer muon --schedule falling --label-smoothing 0.2 --augment "
    "--shift 2 --border reflect --flip alternating --test-flip --on-device --channels-last "
    "--batch-size 2000"
)
PLAIN = (
    "--augment --stem cifar --schedule triangle --weight-decay 5e-4 --on-device --channels-last "
    "--batch-size 512"
)
FAST = (
    "--stem cifar --whiten --optimizer muon --learning-rate 0.1 --weight-decay 5e-4 --schedule "
    "triangle --augment --shift 2 --border reflect --flip alternating --label-smoothing 0.2 "
    "--test-flip --on-device --channels-last --batch-size 500"
)
WIDE = (128, 384, 512)


class Way(NamedTuple):
    """One training: what it is called, the script's options, epochs and the small net's widths."""

    name: str
    options: str
    epochs: int
    widths: tuple[int, ...] = small_net.WIDTHS


WAYS = (
    Way("the small network", SMALL, 9),
    Way("the same, black borders", SMALL.replace("--border reflect ", ""), 9),
    Way("longer", SMALL, 16),
    Way("longer", SMALL, 30),
    Way("wider", SMALL, 16, WIDE),
    Way("wider and longer", SMALL, 40, WIDE),
    Way("ResNet-18, all options", FAST, 14),
    Way("ResNet-18, plain", PLAIN, 20),
)


def accuracies(
    rank: int, size: int, limit: int | None, seconds: float
) -> list[tuple[Way, float, float]]:
    """(way, test accuracy, seconds of training) until the time is up."""
    from distlab.training import speedrun

    end, found = time.monotonic() + seconds, []
    for way in WAYS:
        if time.monotonic() > end:
            break
        if limit:
            way = way._replace(epochs=1)
        net = functools.partial(small_net.SmallNet, widths=way.widths)
        with mock.patch.object(speedrun, "SmallNet", net):
            error, took = trained(rank, size, way.options, limit, way.epochs, seed=0)
        found.append((way, 1 - error, took))
    return found


def main() -> None:
    gpu = world.gpu_count() > 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=None if gpu else 400, help="images")
    parser.add_argument("--seconds", type=float, default=300, help="in which a training may begin")
    args = parser.parse_args()
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    print(header())
    print(f"{args.limit or 'all'} images")
    run = Ranks(1).run(accuracies, args.limit, args.seconds, deadline=7200)
    for way, accuracy, took in run[0]:
        print(f"{way.name:26} {way.epochs:3} epochs in {took:6.1f} s   {accuracy:.2%}")


if __name__ == "__main__":
    main()
