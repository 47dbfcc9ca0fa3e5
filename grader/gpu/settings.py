"""What the runner tells its steps, by the environment."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

PRETEND = "DISTLAB_GPU_PRETEND"
ON_GPU, INPUTS, GRADED = WAYS = "on the GPU", "inputs on the GPU", "as graded"
IMAGES = "DISTLAB_DATA"  # where `distlab.data` looks, too


def pretend() -> bool:
    """Is everything to run on the CPU, in small sizes?"""
    return os.environ.get(PRETEND) == "1"


def device() -> str:
    """The device of a rank, by its kind."""
    return "cpu" if pretend() else "cuda"


def write(path: str | Path, result: dict[str, Any]) -> None:
    """Leave a result for the runner, in one piece: this process may be ended at any moment."""
    path = Path(path)
    beside = path.with_name(path.name + ".part")
    beside.write_text(json.dumps(result, indent=1, ensure_ascii=False), "utf-8")
    os.replace(beside, path)


def has_images() -> bool:
    """Were images found, so that the training scripts need none that are generated?"""
    return bool(os.environ.get(IMAGES))


def images_told() -> str:
    """What the training scripts learn from, in a few words."""
    if not has_images():
        return "generated patterns: no archive of images was there"
    few = "a few of them" if pretend() else "50,000 to train and 10,000 to test"
    return f"CIFAR-10 as JPEG images, {few}, cropped as they are read"
