"""A first layer that whitens: its outputs are uncorrelated, with variance 1, before any training.

Neighbouring pixels are nearly the same, so that a random filter answers to brightness and to little
else, and a network spends its first epochs on undoing that. The eigenvectors of the covariance of
small patches, each divided by the root of its eigenvalue, do it at once. Such a layer needs no
training: it is frozen. Source: Page, "How to train your ResNet 8", 2019; with the negatives of all
filters beside them tysam-code, hlb-CIFAR10, 2023, and Jordan, 2024 (https://arxiv.org/abs/2404.00498).
"""

from __future__ import annotations

import torch
from torch import nn

from distlab.training import data

IMAGES = 5000  # that the covariance is taken from
EPSILON = 5e-4  # added to eigenvalues: directions in which patches hardly differ are noise


def patches(images: torch.Tensor, height: int, width: int) -> torch.Tensor:
    """All patches of some images, one a row: (b, c, h, w) gives (b·places, c·height·width)."""
    found = images.unfold(2, height, 1).unfold(3, width, 1)  # (b, c, rows, columns, height, width)
    return found.permute(0, 2, 3, 1, 4, 5).reshape(-1, images.shape[1] * height * width)


def filters(some: torch.Tensor, epsilon: float = EPSILON) -> torch.Tensor:
    """Whitening filters of patches, the strongest direction first.

    Args:
        some: patches, of shape (n, d).
        epsilon: added to eigenvalues; 0 whitens exactly.

    Returns:
        A tensor of shape (d, d): row i is eigenvector i of someᵀ·some/n, divided by the root of its
        eigenvalue. The outputs some·filtersᵀ have the identity as their second moments.
    """
    moments = some.T @ some / len(some)
    values, vectors = torch.linalg.eigh(moments.double())  # in ascending order
    scaled = vectors.T / (values + epsilon).clamp(min=1e-12).sqrt().unsqueeze(1)
    found: torch.Tensor = scaled.flip(0).to(some.dtype)
    return found


def whiten(layer: nn.Conv2d, images: torch.Tensor) -> None:
    """Give a convolution whitening filters and their negatives, and freeze them.

    A layer with 2·k outputs takes the k strongest directions, or all that there are; outputs that
    are left keep the random filters that they had. With both signs of each filter, no direction is
    lost in the activation that follows.

    Args:
        images: normalised, of shape (b, channels, h, w), on the layer's device or not.
    """
    height, width = layer.weight.shape[-2:]
    found = filters(patches(images, height, width))[: len(layer.weight) // 2]
    with torch.no_grad():
        both = torch.cat((found, -found)).view(-1, *layer.weight.shape[1:])
        layer.weight[: len(both)] = both.to(layer.weight)
    layer.weight.requires_grad_(False)


def of_training_set(images: data.Images) -> torch.Tensor:
    """The images that filters are made from: normalised, the same on every rank."""
    some = range(0, len(images), max(1, len(images) // IMAGES))
    return data.normalised(torch.stack([images.pixels(index) for index in some][:IMAGES]))
