"""The training script's options against the script without them, and that against the textbook.

Two ranks on a CPU, one a GPU where there are any. All ways are measured in the same ranks, in turn.

python -m bench.script
"""

from __future__ import annotations

import importlib.util
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence

import cloudpickle

from bench import Row, run_all
from distlab import Ranks
from distlab.processes import machine
from distlab.rank import world
from distlab.training import speedups
from grader import coursedir

TURNS = 4  # and one before them that is not counted: in it models are compiled
FOLDER = coursedir.SOLUTIONS / "03-cifar10-ddp"
GRAPHS = "--compile reduce-overhead"
OPTIONS = {
    "--on-device": "images kept and augmented on the device",
    "--channels-last": "channels last in memory",
    "--amp": "forward pass in bfloat16",
    "--fused": "fused optimizer",
    "--static-graph": "static graph",
    "--bucket-mb 5": "buckets of 5 MB in place of 25",
    "--stem cifar": "the stem for 32×32 pixels, another model",
    "--compile": "compiled",
    GRAPHS: "compiled, with CUDA graphs",
}
#: what learns in fewer epochs (`bench.speedrun`) may cost time in each step
FEWER_EPOCHS = {
    "--optimizer muon": "Muon in place of SGD",
    "--whiten": "a first layer that whitens and is not trained",
    "--flip alternating": "alternating flips",
    "--label-smoothing 0.2": "smoothed labels",
    "--model small": "the record's small network in place of ResNet-18",
}


def measure() -> Iterator[Row]:
    device = world.here().device
    gpu = device.type == "cuda"
    size = world.gpu_count() or min(2, machine.cores())
    batch, steps = (512, 40) if gpu else (32, 2)
    missing = lacking(device)
    alone = [option for option in OPTIONS if option not in missing]
    together = [option for option in alone if option != "--stem cifar"]
    if GRAPHS in together:
        together.remove("--compile")
    every = " ".join(together)
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    ways = ["", *alone, every, *FEWER_EPOCHS]
    found = Ranks(size).run(times, ways, batch, steps, deadline=1200)
    images = steps * batch * size
    seconds = {  # for an image, on the slowest rank
        way: [max(turn) / images for turn in zip(*(rank[way] for rank in found), strict=True)]
        for way in found[0]
    }
    plain, tutorial = seconds[""], seconds["textbook"]
    yield Row(
        "an image trained on by resnet_ddp.py", plain, tutorial,
        "textbook: a worker's PIL transforms, float32",
        f"{size} rank(s) on {device.type} by {world.backend_for(size)}, "
        f"{max(1, machine.cores() // size)} thread(s) each, {batch} images a rank and step; "
        f"{rates(plain)}, the textbook {rates(tutorial)}",
    )  # fmt: skip
    for way in [*alone, *FEWER_EPOCHS]:
        what = f"{(OPTIONS | FEWER_EPOCHS)[way]} ({way})"
        yield Row(what, seconds[way], plain, "without", rates(seconds[way]))
    left_out = "".join(f"; not measured: {way}, {why}" for way, why in missing.items())
    yield Row(
        "all of these but the stem", seconds[every], plain, "without",
        f"{rates(seconds[every])}{left_out}",
    )  # fmt: skip


def lacking(device) -> dict[str, str]:
    """The options that make no sense here, and why."""
    missing = {}
    if device.type != "cuda":
        missing[GRAPHS] = "which needs a GPU"
    if not speedups.native_bfloat16(device):
        missing["--amp"] = "for which this CPU has no instructions"
    if not speedups.compiler():
        missing |= dict.fromkeys(("--compile", GRAPHS), "which needs a C++ compiler")
    return missing


def rates(seconds: Sequence[float]) -> str:
    return f"{1 / statistics.median(seconds):.0f} images/s"


def times(
    rank: int, size: int, ways: Sequence[str], batch: int, steps: int
) -> dict[str, list[float]]:
    """Seconds that so many steps take this rank: {options, or "textbook": one for each turn}."""
    import torch
    import torch.distributed as dist

    from distlab import notebook, training
    from distlab.training import data

    torch.set_num_threads(training.threads(size))
    spec = importlib.util.spec_from_file_location("resnet_ddp", FOLDER / "resnet_ddp.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    lab = notebook.load(FOLDER / "cifar10_ddp.ipynb")
    device = world.here().device
    split = data.load(limit=batch * size * steps, test_limit=1)

    def by_script(way: str) -> Callable[[int], None]:
        args = script.arguments(["--augment", "--batch-size", str(batch), *way.split()])
        model, optimizer, loader = script.make_training(lab, args, split, rank, size, device)
        return lambda epoch: lab.train_epoch(model, loader, optimizer, device, epoch)

    epochs = {way: by_script(way) for way in ways}
    epochs["textbook"] = textbook(lab, split.train, rank, size, batch, device)
    found = {way: [] for way in epochs}
    for turn in range(TURNS + 1):
        order = list(epochs.items())
        for way, train in order[:: -1 if turn % 2 else 1]:  # nobody is always after the same one
            dist.barrier()
            begin = time.perf_counter()
            train(turn)
            found[way].append(time.perf_counter() - begin)
    return {way: seconds[1:] for way, seconds in found.items()}


def textbook(lab, images, rank: int, size: int, batch: int, device) -> Callable[[int], None]:
    """The loop of the tutorials: images as PIL has them, transformed in workers, float32."""
    import torch
    from torch.nn import functional
    from torch.utils.data import DataLoader, Dataset
    from torch.utils.data.distributed import DistributedSampler

    from distlab.training.vision import transforms

    chain = transforms.Compose([
        transforms.RandomCrop(32, padding=4),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize((0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)),
    ])  # fmt: skip
    pictures = [transforms.functional.to_pil_image(pixels) for pixels in images.all_pixels()]

    class Pictures(Dataset):
        def __len__(self) -> int:
            return len(pictures)

        def __getitem__(self, index: int):
            return chain(pictures[index]), int(images.labels[index])

    sampler = DistributedSampler(Pictures(), size, rank)
    workers = min(8, max(1, machine.cores() // size))
    loader = DataLoader(
        Pictures(), batch, sampler=sampler, num_workers=workers, persistent_workers=True,
        pin_memory=device.type == "cuda",
    )  # fmt: skip
    model = lab.wrap(lab.make_model(10), device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)

    def train(epoch: int) -> float:
        model.train()
        sampler.set_epoch(epoch)
        running = 0.0
        for inputs, labels in loader:
            inputs, labels = inputs.to(device), labels.to(device)
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(inputs), labels)
            loss.backward()
            optimizer.step()
            running += loss.item()
        return running

    return train


if __name__ == "__main__":
    raise SystemExit(run_all(["script"]))
