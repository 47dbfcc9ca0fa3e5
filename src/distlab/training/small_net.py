"""The network of the CIFAR-10 record: six convolutions behind a whitening layer.

Written after airbench94 (Jordan, "94% on CIFAR-10 in 3.29 seconds on a single GPU", 2024,
https://arxiv.org/abs/2404.00498), which descends from hlb-CIFAR10 (tysam-code, 2023) and from
Page's ResNet-9. Its forward pass takes 0.12 billion multiplications an image, where
ResNet-18 with a stem for small images takes 0.56 billion.
"""

from __future__ import annotations

import torch
from torch import nn

WIDTHS = (64, 256, 256)


class Block(nn.Module):
    """Two convolutions, the image halved after the first: (b, c, s, s) to (b, width, s/2, s/2)."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.conv1, self.norm1 = _convolution(channels, width), _norm(width)
        self.conv2, self.norm2 = _convolution(width, width), _norm(width)
        self.pool, self.activation = nn.MaxPool2d(2), nn.GELU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.activation(self.norm1(self.pool(self.conv1(x))))
        found: torch.Tensor = self.activation(self.norm2(self.conv2(x)))
        return found


class SmallNet(nn.Module):
    """(b, 3, 32, 32) to (b, classes). `first` is meant to be whitened, but works without that.

    Args:
        widths: channels of the three blocks; smaller ones are quicker and learn less.
    """

    def __init__(self, classes: int = 10, widths: tuple[int, ...] = WIDTHS) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 24, 2)  # 12 values a patch of 2×2 pixels, both signs of each
        before = (24, *widths[:-1])
        self.blocks = nn.Sequential(*map(Block, before, widths))
        self.pool = nn.MaxPool2d(3)
        self.head = nn.Linear(widths[-1], classes, bias=False)
        with torch.no_grad():
            self.head.weight /= self.head.weight.std()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.blocks(nn.functional.gelu(self.first(x)))
        x = self.pool(x).flatten(1)
        logits: torch.Tensor = self.head(x) / x.shape[1]
        return logits


def _convolution(channels: int, width: int) -> nn.Conv2d:
    """Its first filters hand their input on unchanged, so that a deep network begins as a
    shallow one."""
    layer = nn.Conv2d(channels, width, 3, padding=1, bias=False)
    with torch.no_grad():
        nn.init.dirac_(layer.weight[:channels])
    return layer


def _norm(width: int) -> nn.BatchNorm2d:
    """Statistics follow quickly, since there are few steps; scales stay 1, shifts are learned."""
    layer = nn.BatchNorm2d(width, eps=1e-12, momentum=0.4)
    layer.weight.requires_grad_(False)
    return layer
