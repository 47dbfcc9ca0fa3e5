"""Whitening: outputs have the identity as their second moments, and the layer stays as it is."""

import numpy as np
import pytest
import torch
from torch import nn

from distlab.training import data, whitening


def smooth_images(n=400):
    """Images whose neighbouring pixels are nearly the same, with some noise."""
    generator = torch.Generator().manual_seed(0)
    coarse = torch.randn(n, 3, 4, 4, generator=generator)
    fine = nn.functional.interpolate(coarse, 32, mode="bilinear")
    return fine + 0.1 * torch.randn(n, 3, 32, 32, generator=generator)


def test_patches_are_what_a_convolution_sees():
    images = torch.randn(2, 3, 5, 6, generator=torch.Generator().manual_seed(1))
    layer = nn.Conv2d(3, 7, (2, 3), bias=False)
    by_hand = whitening.patches(images, 2, 3) @ layer.weight.detach().reshape(7, -1).T
    by_layer = layer(images).detach().permute(0, 2, 3, 1).reshape(-1, 7)
    torch.testing.assert_close(by_hand, by_layer, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("size", [2, 3])
def test_outputs_are_uncorrelated_with_variance_one(size):
    some = whitening.patches(smooth_images(), size, size).double()
    outputs = some @ whitening.filters(some, epsilon=0).T
    moments = outputs.T @ outputs / len(outputs)
    torch.testing.assert_close(moments, torch.eye(3 * size * size).double(), atol=1e-8, rtol=0)


def test_a_convolution_is_filled_with_both_signs_and_frozen():
    images = smooth_images()
    layer = nn.Conv2d(3, 24, 2)
    whitening.whiten(layer, images)
    assert not layer.weight.requires_grad and layer.bias.requires_grad
    assert torch.equal(layer.weight[:12], -layer.weight[12:])
    outputs = layer(images).detach() - layer.bias.detach().view(1, -1, 1, 1)
    outputs = outputs[:, :12].permute(1, 0, 2, 3).flatten(1)
    moments = outputs @ outputs.T / outputs.shape[1]
    apart = moments - torch.diag(moments.diag())
    assert apart.abs().max() < 1e-3
    assert moments.diag().min() > 0.9 and moments.diag().max() < 1.01  # what epsilon takes away


def test_a_wide_layer_keeps_the_rest_of_its_filters_and_a_narrow_one_takes_the_strongest():
    images = smooth_images(100)
    wide = nn.Conv2d(3, 64, 3)
    rest = wide.weight.detach()[54:].clone()
    whitening.whiten(wide, images)
    assert torch.equal(wide.weight[54:], rest)
    narrow = nn.Conv2d(3, 8, 3)
    whitening.whiten(narrow, images)
    torch.testing.assert_close(narrow.weight[:4], wide.weight[:4])
    # the strongest direction of smooth images is their brightness: all of one sign
    strongest = narrow.weight[0]
    assert strongest.norm() < narrow.weight[3].norm()


def test_the_images_are_spread_over_the_set_and_the_same_every_time():
    pixels = np.random.default_rng(0).integers(0, 256, (30, 32, 32, 3), dtype=np.uint8)
    images = data.Images(pixels.__getitem__, np.arange(30) % 10)
    found = whitening.of_training_set(images)
    assert found.shape == (30, 3, 32, 32) and found.dtype == torch.float32
    assert torch.equal(found, whitening.of_training_set(images))
