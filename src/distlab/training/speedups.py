"""What makes training faster, one option each. Lab 05 explains them and measures what each brings.

    model = fast.prepared(make_model(10), options, device)  # before DDP wraps it
    model = fast.distributed(wrap(model, device), options)  # and after

`options` are those that `flags` adds to a parser. Each works alone and with all others.
"""

from __future__ import annotations

import argparse
import gc
import os
import shutil
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from distlab.processes import machine
from distlab.training import Refused, flag, positive

#: `torch.compile`'s modes; the second one records CUDA graphs, the third one tries kernels as well
MODES = ("default", "reduce-overhead", "max-autotune")
SWITCHES = {
    "--on-device": "keep all images on the device, as one tensor, and cut batches there",
    "--channels-last": "images and weights lie in memory pixel by pixel, not channel by channel",
    "--amp": "automatic mixed precision: the forward pass in bfloat16 where that is safe",
    "--fused": "one kernel for the optimizer's whole step",
    "--static-graph": "promise DDP that every step uses the same parameters in the same way",
}


def flags(parser: argparse.ArgumentParser) -> None:
    """Add the options, all off by default."""
    group = parser.add_argument_group("what makes it fast (lab 05 measures each)")
    for name, told in SWITCHES.items():
        flag(group, name, action="store_true", help=told)
    flag(group, "--compile", nargs="?", const="default", choices=MODES, metavar="MODE",
         help=f"torch.compile, by itself or with a mode: {', '.join(MODES)}")  # fmt: skip
    flag(group, "--bucket-mb", type=positive(float), metavar="MB",
         help="gradients that DDP sends at once (by default 25)")  # fmt: skip
    flag(group, "--stem", choices=("imagenet", "cifar"), default="imagenet",
         help="the first layer: 7x7, stride 2 and pooling, or 3x3 on the whole image: slower, and "
              "made for 32x32 pixels")  # fmt: skip


def check(options: argparse.Namespace, device: torch.device) -> None:
    """Refuse options that cannot work on this machine.

    Raises:
        Refused: one of them cannot. The message is a sentence that says why.
    """
    gpu = device.type == "cuda"
    if options.compile not in (None, "default") and not gpu:
        raise Refused(
            f"--compile {options.compile} records CUDA graphs, and there is no GPU here: "
            "say --compile alone"
        )
    if options.compile and not compiler():
        raise Refused(
            "--compile needs a C++ compiler, and there is none here: install g++, name one in the "
            "variable CXX, or leave --compile out"
        )
    if options.compile and options.bucket_mb and options.bucket_mb < 1:
        raise Refused(
            "--compile cuts the model where DDP's buckets end, and takes none below 1 MB: "
            f"--bucket-mb {options.bucket_mb:g} is too small"
        )
    if options.amp and gpu and not native_bfloat16(device):
        raise Refused(f"{torch.cuda.get_device_name()} does not know bfloat16: leave --amp out")


def native_bfloat16(device: torch.device) -> bool:
    """Does this device compute in bfloat16 by itself, and not in software that imitates it?"""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    found = torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return bool(found)


def compiler() -> str | None:
    """Where the compiler is that `torch.compile` would use."""
    usual = "clang++" if sys.platform == "darwin" else "g++"
    return shutil.which(os.environ.get("CXX") or usual)


def prepared(model: nn.Module, options: argparse.Namespace, device: torch.device) -> nn.Module:
    """Give a model the stem, the memory layout and the precision that the options ask for.

    Raises:
        Refused: the stem is to be changed, and the model's is not that of torchvision's ResNets.
    """
    if options.stem == "cifar":
        model = cifar_stem(model)
    if options.channels_last:
        kept = torch.channels_last
        model = model.to(memory_format=kept)  # type: ignore[call-overload]  # not in the stub
    return mixed_precision(model, device) if options.amp else model


def distributed(
    model: DistributedDataParallel, options: argparse.Namespace
) -> DistributedDataParallel:
    """Give a DDP module the settings of the options, and compile what it wraps."""
    if options.static_graph or options.bucket_mb:
        model = with_settings(model, options.static_graph, options.bucket_mb)
    if options.compile:
        compile_training(model.module, options.compile)
    return model


def cifar_stem(model: nn.Module) -> nn.Module:
    """Let a ResNet of torchvision see small images whole.

    Its stem was made for 224×224 pixels: after a convolution and a pooling of stride 2 each,
    8×8 of 32×32 are left. In its place comes the 3×3 convolution that He et al. (2015,
    section 4.2) have for CIFAR-10. It costs: all layers have sixteen times as many places to
    compute.

    Raises:
        Refused: it is no such network.
    """
    old = getattr(model, "conv1", None)
    if not isinstance(old, nn.Conv2d) or not hasattr(model, "maxpool"):
        raise Refused("--stem cifar changes torchvision's ResNets, and this model is none")
    model.conv1 = nn.Conv2d(old.in_channels, old.out_channels, 3, padding=1, bias=False)
    nn.init.kaiming_normal_(model.conv1.weight, mode="fan_out", nonlinearity="relu")
    model.maxpool = nn.Identity()
    return model


def check_stem(path: Path, stem: str) -> None:
    """Refuse a checkpoint of a model with another stem.

    Raises:
        Refused: it is one. Whatever else is wrong with the file shows when it is loaded.
    """
    try:
        width = torch.load(path, map_location="meta", mmap=True)["model"]["conv1.weight"].shape[-1]
    except Exception:
        return
    if (width == 3) != (stem == "cifar"):
        other = "cifar" if width == 3 else "imagenet"
        raise Refused(
            f"{path} was written with --stem {other} and cannot go on with --stem {stem}: "
            f"say --stem {other}, or name another --model-filename"
        )


def mixed_precision(model: nn.Module, device: torch.device) -> nn.Module:
    """Let a model compute its forward pass in bfloat16 where autocast deems that safe.

    Weights stay float32, and so do outputs: the loss is computed in full. The context is around one
    forward pass alone, since autocast keeps converted weights until it ends.
    """
    forward = model.forward

    def mixed(*inputs: torch.Tensor) -> torch.Tensor:
        with torch.autocast(device.type, torch.bfloat16):
            outputs: torch.Tensor = forward(*inputs)
        return outputs.float()

    model.forward = mixed
    return model


def with_settings(
    model: DistributedDataParallel, static_graph: bool = False, bucket_mb: float | None = None
) -> DistributedDataParallel:
    """Wrap the model inside a DDP module in a new DDP module, on the same device.

    Args:
        static_graph: every step uses the same parameters in the same way.
        bucket_mb: megabytes of a bucket, which is sent at once.
    """
    bare, devices = model.module, model.device_ids
    del model
    gc.collect()  # the old one's hooks on the gradients go with it
    return DistributedDataParallel(
        bare, device_ids=devices, static_graph=static_graph, bucket_cap_mb=bucket_mb
    )


def compile_training(model: nn.Module, mode: str = "default") -> None:
    """Compile a model's forward and backward pass at its first step in train mode.

    In eval mode the model stays uncompiled: a second compilation would take longer than it saves.

    Args:
        mode: one of `MODES`.
    """
    from torch._inductor import config

    ranks = int(os.environ.get("LOCAL_WORLD_SIZE", 1))  # each of them compiles
    gpu = any(one.is_cuda for one in model.parameters())  # there, dozens of kernels: seconds each
    config.compile_threads = min(8, max(1, machine.cores() // ranks)) if gpu else 1
    forward = model.forward
    fast = torch.compile(forward, mode=mode)
    model.forward = lambda *inputs: (fast if model.training else forward)(*inputs)
