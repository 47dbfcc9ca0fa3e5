"""Lab 05: images that say who they are, ranks that tell each other, and the script's table."""

import json
import math
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from distlab.course.lab05_scaling_up import make_feeding_loader
from distlab.course.lab05_scaling_up.shard import _salted
from distlab.rank import sharing
from grader import coursedir


def made(**changes):
    return make_feeding_loader._made({"seed": 3, "shards": 4, "form": "both", **changes})


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 65_535), min_size=1, max_size=8), st.integers(0, 1000))
def test_an_image_carries_its_number(numbers, seed):
    generator = np.random.default_rng(seed)
    images = np.stack([make_feeding_loader._image(number, generator) for number in numbers])
    assert make_feeding_loader._numbers(images.transpose(0, 3, 1, 2) / 255) == numbers


def test_the_number_survives_png_and_jpeg():
    shards = made()
    assert make_feeding_loader._numbers(shards.pixels) == list(range(len(shards.labels)))


def test_the_same_seed_makes_the_same_shards_and_another_one_others():
    assert made().files == made().files
    assert made().files != made(seed=4).files


def test_shards_are_uneven_and_hold_all_samples_in_order():
    lengths = make_feeding_loader._lengths({"seed": 3, "shards": 4})
    assert len(set(lengths)) > 1
    shard_of = made().shard_of
    assert [shard_of.count(shard) for shard in range(4)] == lengths
    assert shard_of == sorted(shard_of)


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda image: image[::-1], "with red and blue swapped"),
        (lambda image: image.transpose(0, 2, 1), "lying on their side"),
        (lambda image: image / 255, "divided by 255 twice"),
        (lambda image: image[:, :, ::-1], "mirrored"),
        (lambda image: image / image.max(), "with pixels of other values"),
        (lambda image: 1 - image, "others than those of the files"),
    ],
)
def test_a_spoilt_image_is_recognised(spoil, told):
    shards = made()
    assert make_feeding_loader._spoilt(spoil(shards.pixels[5]), shards) == told


def _read(pixels, shards):
    images = torch.tensor(pixels, dtype=torch.float32)
    return make_feeding_loader._read([(images, torch.tensor(shards.labels))], shards)


def test_pixels_divided_by_256_are_told_from_what_another_decoder_makes_of_a_jpeg():
    shards = made()
    noise = np.random.default_rng(1).integers(-4, 5, shards.pixels.shape) / 255
    assert _read(shards.pixels + noise, shards).said["pictures"] == "those of the files"
    assert (
        _read(shards.pixels * 255 / 256, shards).said["pictures"] == "with pixels of other values"
    )


def test_an_image_with_a_nan_is_no_image_of_the_files():
    shards = made()
    images = torch.tensor(shards.pixels[:3])
    labels = torch.tensor(shards.labels[:3])
    assert (
        make_feeding_loader._read([(images, labels)], shards).said["pictures"]
        == "those of the files"
    )
    images[0, :, 0, 0] = math.nan  # in a dark field: the number that it carries can be read
    epoch = make_feeding_loader._read([(images, labels)], shards)
    assert epoch.numbers == [0, 1, 2]
    assert epoch.said["pictures"] == "others than those of the files"


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        ([[0, 1], [2, 3]], "each of 4 once"),
        ([[0, 1], [2]], "1 of 4 missing"),
        ([[0, 1, 2], [2, 3]], "1 more than once"),
        ([[0, -1], [2, 2]], "2 of 4 missing and 1 more than once"),
    ],
)
def test_coverage_is_told(seen, told):
    assert make_feeding_loader._coverage(4, seen) == told


def test_a_shard_that_two_ranks_read_is_nobodys_own():
    shard_of = [0, 0, 1, 1, 2]
    assert make_feeding_loader._ownership([[0, 1], [2, 3, 4]], 0, shard_of) == "its own"
    assert (
        make_feeding_loader._ownership([[0, 2], [1, 3, 4]], 0, shard_of)
        == "shared with other ranks"
    )
    assert make_feeding_loader._ownership([[0, 1, 2, 3, 4], []], 1, shard_of) == "none"


def test_ranks_tell_each_other_and_one_that_raises_keeps_nobody_waiting(tmp_path, monkeypatch):
    monkeypatch.setenv("DISTLAB_RUN", str(tmp_path))
    told = {}

    def rank(number):
        def produce():
            if number == 1:
                raise ValueError("on purpose")
            return [number]

        try:
            told[number] = sharing.among_ranks("test", number, 3, produce)
        except ValueError as error:
            told[number] = str(error)

    threads = [threading.Thread(target=rank, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(sharing.PATIENCE / 4)
    assert told == {0: [[0], None, [2]], 1: "on purpose", 2: [[0], None, [2]]}


@pytest.mark.slow  # imports torch in processes of its own
def test_the_script_makes_a_table_of_what_was_measured(tmp_path):
    script = coursedir.SOLUTIONS / "05-scaling-up" / "scaling.py"
    results = tmp_path / "scaling.json"
    lines = [
        {"mode": "weak", "ranks": ranks, "images/s": rates}
        for ranks, rates in ((4, [300.0, 340.0]), (1, [100.0, 100.0]), (1, [90.0, 110.0]))
    ]
    results.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def run(*arguments, script=script):
        return subprocess.run(
            [sys.executable, str(script), *arguments],
            capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    done = run("--table", str(results))
    assert done.returncode == 0, done.stderr
    assert "4 ranks        320 ± 20 images/s  speed-up 3.20  efficiency 0.80" in done.stdout
    refused = run("--table", str(tmp_path / "nothing"))
    assert refused.returncode == 1
    assert "holds no measurements" in refused.stderr and "Traceback" not in refused.stderr
    released = run(
        "--table", str(results), script=coursedir.LABS / script.parent.name / script.name
    )
    assert released.returncode == 1 and "holds no measurements" not in released.stderr
    assert "TODO speedup_and_efficiency: write it in the notebook" in released.stderr
    assert "Traceback" not in released.stderr
    assert "images/s" in run("--mode", "weak", "--batch-size", "2", "--steps", "1").stdout


class Named(str):
    def __hash__(self):
        return 5


class Pair(tuple):
    def __hash__(self):
        return len(self)


@pytest.mark.parametrize("value", [7, (1, (2, 3)), None, Named("seed"), Pair("ab"), (Named(), 1)])
def test_what_has_one_hash_in_every_python_has_it_on_every_rank(value):
    assert _salted(0, value) == _salted(1, value) == hash(value)


@pytest.mark.parametrize("value", ["seed", b"seed", (1, ("seed", 2)), ()])
def test_a_text_has_another_hash_on_each_rank(value):
    assert (_salted(0, value) == _salted(1, value)) == (value == ())
