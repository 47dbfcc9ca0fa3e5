"""What each way to need fewer epochs brings: test errors with all of them, and without that one.

On a GPU the whole set for eight epochs, as in the record; on a CPU few images for few epochs, which
says more of whether an option works than of what it brings.

python -m bench.speedrun [--limit 400] [--epochs 2] [--seeds 1]
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import cloudpickle

from bench import Row, header, show
from distlab import Ranks, notebook
from distlab.rank import world
from grader import coursedir

FOLDER = coursedir.SOLUTIONS / "03-cifar10-ddp"
BASE = "--model small --schedule falling --augment --shift 2 --on-device --channels-last"
OPTIONS = {
    "--optimizer muon": "Muon",
    "--whiten": "a whitening first layer",
    "--flip alternating": "alternating flips",
    "--label-smoothing 0.2": "smoothed labels",
    "--test-flip": "the mean over both sides at test time",
}
#: SGD's rate for the small network: the record's before it had Muon, for a mean over images
SGD = "--learning-rate 1.5 --weight-decay 0.0005"


def ways() -> dict[str, str]:
    """What is left out → the script's options: "" leaves nothing out."""
    every = list(OPTIONS)
    found = {"": " ".join((BASE, *every))}
    for left_out in every:
        rest = [option for option in every if option != left_out]
        sgd = [SGD] if left_out == "--optimizer muon" else []
        found[left_out] = " ".join((BASE, *rest, *sgd))
    return found


def measure(limit: int | None, epochs: int, seeds: int, batch: int) -> Iterator[Row]:
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    run = Ranks(1).run(errors, list(ways().values()), limit, epochs, seeds, batch, deadline=7200)
    by_way = dict(zip(ways(), run[0], strict=True))
    ours = [error for error, _ in by_way[""]]
    for left_out, name in OPTIONS.items():
        theirs = [error for error, _ in by_way[left_out]]
        seconds = sum(s for _, s in by_way[""]) / seeds, sum(s for _, s in by_way[left_out]) / seeds
        yield Row(
            f"test error, {name} among them ({left_out})", ours, theirs, "without",
            f"trained in {seconds[0]:.1f} s, without in {seconds[1]:.1f} s", unit="%",
        )  # fmt: skip


def errors(
    rank: int, size: int, options: Sequence[str], limit: int | None, epochs: int, seeds: int,
    batch: int,
) -> list[list[tuple[float, float]]]:  # fmt: skip
    """(test error, seconds of training) of each way and seed."""
    sized = [f"--batch-size {batch} {way}" for way in options]
    return [
        [trained(rank, size, way, limit, epochs, seed) for seed in range(seeds)] for way in sized
    ]


def trained(
    rank: int, size: int, options: str, limit: int | None, epochs: int, seed: int
) -> tuple[float, float]:
    """Train by the script of lab 03, with these options of its: (test error, seconds)."""
    import torch

    from distlab import training
    from distlab.training import speedrun

    torch.set_num_threads(training.threads(size))
    script, lab = _script()
    split, device = _images(limit), world.here().device
    quick = ["--amp"] if device.type == "cuda" else []
    words = ["--num-epochs", str(epochs), "--random-seed", str(seed)]
    args = script.arguments([*words, *quick, *options.split()])
    model, optimizer, loader = script.make_training(lab, args, split, rank, size, device)
    if args.schedule != "constant":
        script.follow_schedule(args, optimizer, 0, len(loader))
    begin = time.perf_counter()
    for epoch in range(epochs):
        lab.set_random_seeds(training.epoch_seed(seed, epoch, rank))
        lab.train_epoch(model, loader, optimizer, device, epoch)
    seconds = time.perf_counter() - begin
    guesses = speedrun.Both(model.module) if args.test_flip else model
    right = lab.evaluate(guesses, split.test, rank, size, args.batch_size, device)
    return 1 - right, seconds


@functools.cache
def _script() -> tuple[Any, Any]:
    """The training script, and the notebook that it takes its functions from."""
    spec = importlib.util.spec_from_file_location("resnet_ddp", FOLDER / "resnet_ddp.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script, notebook.load(FOLDER / "cifar10_ddp.ipynb")


@functools.cache
def _images(limit: int | None) -> Any:
    from distlab.training import data

    return data.load(limit=limit, test_limit=limit)


def main() -> None:
    gpu = world.gpu_count() > 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=None if gpu else 400, help="images")
    parser.add_argument("--epochs", type=int, default=8 if gpu else 2)
    parser.add_argument("--seeds", type=int, default=3 if gpu else 1)
    parser.add_argument("--batch-size", type=int, default=2000 if gpu else 40)
    args = parser.parse_args()
    print(header())
    print(f"{args.limit or 'all'} images, {args.epochs} epochs of the small network")
    show(measure(args.limit, args.epochs, args.seeds, args.batch_size))


if __name__ == "__main__":
    main()
