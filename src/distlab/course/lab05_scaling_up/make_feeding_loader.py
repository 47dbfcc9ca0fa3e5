"""`make_feeding_loader`: a loader over shards, and how its epochs are judged.

Each image carries its own number in sixteen light and dark fields, which survive JPEG. So whatever
a loader does, what came out of it says which samples they were, and in which order.
"""

from __future__ import annotations

import io
import os
import tarfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from distlab.exercises.exercise import Case, Exercise, Hint
from distlab.exercises.raised import Advice
from distlab.rank.sharing import among_ranks

_FIELD, _FIELDS = 8, 4  # a field is 8×8 pixels, an image 4×4 fields
_SPREAD, _BACK = 40503, pow(40503, -1, 1 << 16)  # so that small numbers use all fields
_WEIGHTS = 1 << np.arange(_FIELDS * _FIELDS).reshape(_FIELDS, _FIELDS)
_FORGIVEN = 12 / 255  # by which two JPEG decoders may differ in a pixel
_ALIKE = 0.002  # by which the mean pixel may: dividing by 256 for 255 makes it 0.0039 darker
_OTHER_VALUES = "with pixels of other values"


# the shards of a case


def _plan(case: Case) -> list[dict]:
    told = {
        "shards": case.params["shards"],
        "batch_size": case.get("batch_size", 8),
        "form": case.get("form", "png"),
        "epochs": case.get("epochs", 2),
        "seed": case.number(2**31),
        **({"left": True} if case.get("left") else {}),  # by `break`, before the epochs
    }
    return [told] * case.size


def _lengths(inputs: dict) -> list[int]:
    """How many samples each shard holds: uneven, and enough that no two orders agree by chance."""
    generator = np.random.default_rng([inputs["seed"], 1])
    return generator.integers(6, 16, inputs["shards"]).tolist()


def _image(number: int, generator: np.random.Generator) -> np.ndarray:
    """A uint8 image of shape (32, 32, 3) that carries its number; more red than blue."""
    light = (number * _SPREAD & _WEIGHTS) > 0
    fields = np.where(light, 176, 80).repeat(_FIELD, 0).repeat(_FIELD, 1)
    colour = np.array([36, 0, -36]) + generator.integers(-12, 13, 3)
    grain = generator.integers(-4, 5, (32, 32, 1))
    return (fields[..., None] + colour + grain).astype(np.uint8)


def _numbers(images) -> list[int]:
    """The numbers that a batch of images (b, 3, 32, 32) in 0..1 carries."""
    fields = images.mean(1).reshape(-1, _FIELDS, _FIELD, _FIELDS, _FIELD).mean((2, 4))
    codes = ((fields > 128 / 255) * _WEIGHTS).sum((1, 2))
    return (codes * _BACK % (1 << 16)).tolist()


@dataclass
class Shards:
    """The samples of a case: pixels and label of each number, and which shard it lies in."""

    pixels: np.ndarray  # (n, 3, 32, 32), float32 in 0..1
    labels: list[int]
    shard_of: list[int]
    files: list[bytes] = field(default_factory=list)  # the tar of each shard


def _made(inputs: dict) -> Shards:
    from PIL import Image

    generator = np.random.default_rng([inputs["seed"], 2])
    pixels, labels, shard_of, files = [], [], [], []
    for shard, length in enumerate(_lengths(inputs)):
        tape = io.BytesIO()
        with tarfile.open(fileobj=tape, mode="w") as tar:
            for _ in range(length):
                number, label = len(labels), int(generator.integers(0, 1000))
                kind = inputs["form"] if inputs["form"] != "both" else ("png", "jpg")[number % 2]
                data = io.BytesIO()
                image = Image.fromarray(_image(number, generator))
                image.save(data, "PNG" if kind == "png" else "JPEG", quality=95, compress_level=1)
                files_of_sample = [(kind, data.getvalue()), ("cls", str(label).encode())]
                for suffix, content in files_of_sample[:: -1 if shard % 2 else 1]:
                    entry = tarfile.TarInfo(f"{number:06d}.{suffix}")
                    entry.size = len(content)
                    tar.addfile(entry, io.BytesIO(content))
                decoded = np.asarray(Image.open(data).convert("RGB"), np.float32) / 255
                pixels.append(decoded.transpose(2, 0, 1))
                labels.append(label)
                shard_of.append(shard)
        files.append(tape.getvalue())
    return Shards(np.stack(pixels), labels, shard_of, files)


def _laid_down(inputs: dict, folder: Path, rank: int, size: int) -> Shards:
    """Rank 0 makes the shards and writes them, and all ranks know what is in them."""
    known = folder.with_suffix(".npz")

    def write() -> None:
        if rank == 0:
            shards = _made(inputs)
            folder.mkdir()
            for number, data in enumerate(shards.files):
                (folder / f"images-{number:04d}.tar").write_bytes(data)
            np.savez(known, pixels=shards.pixels, labels=shards.labels, shard_of=shards.shard_of)

    among_ranks("written", rank, size, write)
    with np.load(known) as arrays:
        return Shards(arrays["pixels"], arrays["labels"].tolist(), arrays["shard_of"].tolist())


# what a loader gave


#: what is said of the batches of a right loader
_RIGHT = {
    "images": "float32 of shape (b, 3, 32, 32)",
    "labels": "int64 of shape (b,)",
    "values": "0..1",
    "pictures": "those of the files",
    "labels of the images": "as in the files",
    "epoch": "ended",
}


@dataclass
class Epoch:
    """One pass over a loader, as its batches tell it."""

    numbers: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    said: dict[str, str] = field(default_factory=_RIGHT.copy)
    light: float = 0.0  # sums over all pixels, and over those of the files
    of_files: float = 0.0


def _is_looped_over(loader: Any) -> bool:
    """Can a `for` go over it, by `__getitem__` as well?"""
    return isinstance(loader, Iterable) or hasattr(type(loader), "__getitem__")


def _read(loader: Any, shards: Shards) -> Epoch:
    epoch = Epoch()
    if not _is_looped_over(loader):
        epoch.said["images"] = f"no batches: a {type(loader).__name__} is no loader"
        return epoch
    for batch in loader:
        if not _fits(batch, epoch.said):
            break
        _look_at(epoch, batch[0].cpu().numpy(), batch[1].tolist(), shards)
        if len(epoch.numbers) > 2 * len(shards.labels):
            epoch.said["epoch"] = "without an end"
            break
    as_light = abs(epoch.light - epoch.of_files) <= _ALIKE * epoch.of_files
    if not as_light and epoch.said["pictures"] == _RIGHT["pictures"]:
        epoch.said["pictures"] = _OTHER_VALUES
    return epoch


def _fits(batch: Any, said: dict[str, str]) -> bool:
    """Has a batch the form asked for? What it is instead goes into `said`."""
    import torch

    if not (isinstance(batch, (list, tuple)) and len(batch) == 2):
        said["images"] = f"a batch that is a {type(batch).__name__}, not (images, labels)"
        return False
    images, labels = batch
    for name, value, dtype in (("images", images, torch.float32), ("labels", labels, torch.int64)):
        if not isinstance(value, torch.Tensor):
            said[name] = f"a {type(value).__name__}"
            return False
        rest = tuple(value.shape[1:])
        shape = f"shape (b{''.join(f', {side}' for side in rest)}{',' * (not rest)})"
        if value.dtype != dtype or rest != ((3, 32, 32) if name == "images" else ()):
            said[name] = f"{str(value.dtype).removeprefix('torch.')} of {shape}"
            return False
    if len(images) != len(labels):
        said["labels"] = f"{len(labels)} labels for {len(images)} images"
        return False
    return True


def _look_at(epoch: Epoch, images: np.ndarray, labels: list[int], shards: Shards) -> None:
    low, high = float(images.min(initial=0)), float(images.max(initial=0))
    epoch.sizes.append(len(images))
    if low < 0 or high > 1:
        epoch.said["values"] = "below 0" if low < 0 else "above 1"
        epoch.numbers += [-1] * len(images)
        return
    for number, image, label in zip(_numbers(images), images, labels, strict=True):
        known = number < len(shards.labels)
        # so that NaN, which is not larger than anything, is no picture of the files
        if not (known and np.abs(image - shards.pixels[number]).max() <= _FORGIVEN):
            epoch.said["pictures"] = _spoilt(image, shards)
        elif label != shards.labels[number]:
            epoch.said["labels of the images"] = "others than in the files"
        if known:
            epoch.light += float(image.sum(dtype=np.float64))
            epoch.of_files += float(shards.pixels[number].sum(dtype=np.float64))
        epoch.numbers.append(number if known else -1)


def _spoilt(image: np.ndarray, shards: Shards) -> str:
    """How an image differs from those of the files, where that is a well-known way."""
    for told, mended in (
        ("with red and blue swapped", image[::-1]),
        ("lying on their side", image.transpose(0, 2, 1)),
        ("divided by 255 twice", image * 255),
        ("mirrored", image[:, :, ::-1]),
    ):
        number = _numbers(mended[None])[0]
        if number < len(shards.labels) and np.abs(mended - shards.pixels[number]).max() < _FORGIVEN:
            return told
    return _OTHER_VALUES if _in_place(image, shards) else "others than those of the files"


def _in_place(image: np.ndarray, shards: Shards) -> bool:
    """Is it a file's picture, but for how light it is and how strong its contrast?"""
    pixels = shards.pixels.reshape(len(shards.labels), -1)
    pixels, one = pixels - pixels.mean(1, keepdims=True), image.ravel() - image.mean()
    alike = pixels @ one / (np.linalg.norm(pixels, axis=1) * np.linalg.norm(one) + 1e-12)
    return bool(alike.max(initial=0.0) > 0.98)


def _feed(function, rank, size, inputs):
    folder = Path(os.environ["DISTLAB_RUN"], "shards")
    shards = _laid_down(inputs, folder, rank, size)
    epochs: list[Epoch] = []

    def all_epochs() -> list[list[int]]:
        loader = function(str(folder), rank, size, inputs["batch_size"])
        if inputs.get("left") and _is_looped_over(loader):
            next(iter(loader), None)
        epochs.extend(_read(loader, shards) for _ in range(inputs["epochs"]))
        return [epoch.numbers for epoch in epochs]

    told = among_ranks("read", rank, size, all_epochs)
    if any(one is None for one in told):
        return {"returned": "nothing: another rank did not get through its epochs"}
    return _judged(epochs, told, rank, shards, inputs["batch_size"])


def _judged(
    epochs: list[Epoch], told: list[list[list[int]]], rank: int, shards: Shards, batch_size: int
) -> dict[str, str]:
    """`told`: the numbers that each rank saw in each epoch, [rank][epoch]."""
    facts = {
        name: next((e.said[name] for e in epochs if e.said[name] != right), right)
        for name, right in _RIGHT.items()
    }
    for turn in range(len(epochs)):
        seen = [one[turn] for one in told]
        facts[f"samples of epoch {turn}"] = _coverage(len(shards.labels), seen)
        facts[f"shards of epoch {turn}"] = _ownership(seen, rank, shards.shard_of)
        if turn:
            same = epochs[turn].numbers == epochs[turn - 1].numbers
            facts[f"order of epoch {turn}"] = "the one before" if same else "another one"
    facts["batches"] = _sizes(epochs, batch_size, len(set(shards.shard_of)))
    return facts


def _coverage(n: int, seen: list[list[int]]) -> str:
    counts = Counter(number for one in seen for number in one if number >= 0)
    missing, twice = n - len(counts), sum(count > 1 for count in counts.values())
    if not missing and not twice:
        return f"each of {n} once"
    parts = [f"{missing} of {n} missing"] * bool(missing)
    return " and ".join(parts + [f"{twice} more than once"] * bool(twice))


def _ownership(seen: list[list[int]], rank: int, shard_of: list[int]) -> str:
    shards = [{shard_of[number] for number in one if number >= 0} for one in seen]
    mine = shards.pop(rank)
    if not mine:
        return "none"
    return "shared with other ranks" if any(mine & other for other in shards) else "its own"


def _sizes(epochs: list[Epoch], batch_size: int, shards: int) -> str:
    """Is every batch full but for some last ones, of a worker or of a shard?"""
    if any(size > batch_size for e in epochs for size in e.sizes):
        return "larger than batch_size"
    for epoch in epochs:
        short = sum(size < batch_size for size in epoch.sizes)
        if short > max(shards, 8) and short > len(epoch.sizes) / 2:
            return "mostly smaller than batch_size"
    return "full but for the last ones"


# hints


def _any(name: str, words: str):
    """A hint's `shows`: on some rank, does a fact whose name begins so hold these words?"""
    return lambda look: any(
        words in said for got in look.got for key, said in got.items() if key.startswith(name)
    )


_missing, _twice = _any("samples", "missing"), _any("samples", " more than once")


_HINTS = (
    Hint(
        "no loader", _any("images", "is no loader"),
        "What came back cannot be looped over: does the function end with `return`?",
    ),
    Hint(
        "no pairs", _any("images", "a batch that is"),
        "A batch is a pair, (images, labels): WebDataset's samples are dicts until to_tuple, and "
        "a DataLoader makes pairs of batches only where the dataset yields pairs.",
    ),
    Hint(
        "uint8", _any("images", "uint8"),
        "Bytes from 0 to 255 came out: the model wants float32 from 0 to 1.",
    ),
    Hint(
        "channels last", _any("images", "(b, 32, 32, 3)"),
        "Pillow and NumPy have colour as the last dimension, torch as the first after the batch: "
        "permute the dimensions.",
    ),
    Hint(
        "no batches", _any("images", "(b, 32, 32)"),
        "Single samples came out, not batches of them.",
    ),
    Hint(
        "images of another form", lambda look: look.differs("images"),
        "A batch of images is a float32 tensor of shape (b, 3, 32, 32).",
    ),
    Hint(
        "labels of another form", lambda look: look.differs("labels"),
        "A batch of labels is an int64 tensor of shape (b,), made from the text in KEY.cls.",
    ),
    Hint(
        "not divided", _any("values", "above 1"),
        "Pixels go up to 255: divide by 255.",
    ),
    Hint(
        "normalised", _any("values", "below 0"),
        "Pixels below 0 came out: leave mean and standard deviation for later, 0..1 is asked for.",
    ),
    Hint(
        "divided twice", _any("pictures", "twice"),
        "The images are nearly black: what turned the bytes into floats has already divided by "
        "255.",
    ),
    Hint(
        "colours swapped", _any("pictures", "red and blue"),
        "Red and blue are swapped: some libraries read images as BGR.",
    ),
    Hint(
        "on their side", _any("pictures", "side"),
        "Rows and columns are swapped: from (height, width, colour) only the colour moves.",
    ),
    Hint(
        "mirrored", _any("pictures", "mirrored"),
        "Images came out mirrored. The pictures of the files are asked for: what augments them, at "
        "random or always, comes later.",
    ),
    Hint(
        "other values", _any("pictures", "other values"),
        "The pixels are in their places, with other values than in the file. A byte b becomes "
        "b / 255, so that 255 becomes 1: 255 in every image, not 256, and not the largest value "
        "that an image happens to hold.",
    ),
    Hint(
        "other pictures", _any("pictures", "others"),
        "Pixels are not where they are in the file. permute moves the colour to the front; reshape "
        "and view keep the order of the numbers, and so mix colours and rows.",
    ),
    Hint(
        "wrong labels", _any("labels of the images", "others"),
        "Images came with labels of other images: what belongs together has the same KEY, "
        "whichever of the two files comes first in the tar.",
    ),
    Hint(
        "endless", _any("epoch", "without an end"),
        "A `for` over the loader is one epoch and has to end: every sample once, no repeat() and "
        "no resampling.",
    ),
    Hint(
        "second epoch empty",
        lambda look: any(
            got["shards of epoch 0"] != "none" == got["shards of epoch 1"] for got in look.got
        ),
        "The second `for` over the loader found nothing. Each one has to begin anew: a generator, "
        "for one, is used up after one pass. Return something that begins anew in its __iter__, "
        "such as a DataLoader.",
    ),
    Hint(
        "goes on after break",
        lambda look: bool(look.case.get("left")) and (_missing(look) or _twice(look)),
        "A `for` was left by `break`, and the next one is a whole epoch all the same: `__iter__` "
        "has to begin anew, and nothing that was left of the old epoch, or prepared for it, comes "
        "then.",
    ),
    Hint(
        "every worker everything",
        lambda look: look.size == 1 and _twice(look) and not _missing(look),
        "Samples came more than once, and there is a single rank: each worker of a DataLoader has "
        "a copy of the dataset. Ask get_worker_info() which part is this worker's.",
    ),
    Hint(
        "every rank everything",
        lambda look: look.size > 1 and _twice(look) and not _missing(look),
        "Samples came more than once: either ranks read the same shards, or the workers of a rank "
        "do. Each shard belongs to one rank, and in there to one worker.",
    ),
    Hint(
        "lists that differ", _any("samples", "missing and"),
        "Some samples came twice and others never. Either the parts of ranks or workers overlap "
        "and leave gaps, or these took them from lists in different orders (divide the sorted "
        "list, then shuffle what is one's own), or samples were drawn with replacement.",
    ),
    Hint(
        "shards shared", _any("shards", "shared"),
        "Several ranks read samples of the same shard: then each has to read the whole file to use "
        "a part of it. Divide the files, not the samples.",
    ),
    Hint(
        "no sample at all",
        lambda look: set(look.left("shards of epoch 0")) == {"none"},
        "No rank got any sample. Which files are looked for? Shards end in .tar, and the image of "
        "a sample is KEY.png in one folder and KEY.jpg in another.",
    ),
    Hint(
        "a rank without shards", _any("shards", "none"),
        "A rank got no sample at all. There are at least two shards for each rank: divide them.",
    ),
    Hint(
        "samples missing", _missing,
        "Samples never came: shards that belong to nobody, a last batch that was dropped, or an "
        "epoch cut to the length of the shortest rank.",
    ),
    Hint(
        "same order", _any("order", "the one before"),
        "A rank saw its samples in the same order as the epoch before. What is counted up or "
        "seeded inside a worker is forgotten with it: each epoch starts new workers with a fresh "
        "copy of the dataset. And two shards have two orders only: mix the samples too.",
    ),
    Hint(
        "batch size", _any("batches", "than batch_size"),
        "Batches have batch_size samples, all but the last ones.",
    ),
)  # fmt: skip

exercise = Exercise(
    points=5,
    make=_plan,
    call=_feed,
    deadline=30.0,  # workers are processes, and decode images
    asks="make_feeding_loader returns a loader over this rank's own shards: in every epoch each "
    "sample comes once over all ranks and workers, in another order than the epoch before, as "
    "batches of (images, labels).",
    visible=(
        Case(2, 1, {"shards": 5}),
        Case(1, 2, {"shards": 3, "form": "jpg", "batch_size": 5}),
    ),
    hints=_HINTS,
    advice=(
        Advice(
            "no sample at all",
            "num_samples should be a positive",
            "A rank found no sample. Shards end in .tar, and the image of a sample is KEY.png in "
            "one folder and KEY.jpg in another.",
        ),
    ),
)
