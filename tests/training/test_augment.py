"""Crops and mirrors: one distribution both ways, the same again from the same seed."""

import collections

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from distlab.training import augment, data

CPU = torch.device("cpu")
PLACES = 2 * augment.PADDING + 1


def images(n=7, seed=0):
    """Images of bytes that differ everywhere; none of them is black anywhere."""
    pixels = np.random.default_rng(seed).integers(1, 256, (n, 32, 32, 3), dtype=np.uint8)
    return data.Images(pixels.__getitem__, np.arange(n) % 10)


def gradient():
    """One image whose corner pixel tells where a crop begins and whether it is mirrored."""
    rows, columns = np.mgrid[:32, :32]
    return data.Images(
        lambda _: np.stack([rows + 1, columns + 1, np.full_like(rows, 9)], -1).astype(np.uint8), [3]
    )


def places(batch):
    """(row, column, mirrored) of each crop: of the pixel in its middle, which is never black."""
    found = []
    bytes_ = data.normalised(torch.arange(256).view(-1, 1, 1, 1).expand(-1, 3, 1, 1))
    for image in batch:
        row, left, right = (
            int((bytes_[:, channel, 0, 0] - value).abs().argmin()) - 1
            for channel, value in (
                (0, image[0, 16, 16]), (1, image[1, 16, 15]), (1, image[1, 16, 16]),
            )
        )  # fmt: skip
        mirrored = right < left
        column = right - 16 if not mirrored else right - 15
        found.append((row - 16, column, mirrored))
    return found


def one_by_one(n, seed):
    torch.manual_seed(seed)
    plain = augment.Augmented(gradient())
    return torch.stack([plain[0][0] for _ in range(n)])


def in_batches(n, seed):
    kept = augment.OnDevice(gradient(), CPU)
    chosen = torch.zeros(n, dtype=torch.int64)
    return kept.batch(chosen, torch.Generator().manual_seed(seed))[0]


@pytest.mark.parametrize("way", [one_by_one, in_batches])
def test_every_crop_is_as_likely_as_the_others_and_half_are_mirrored(way):
    n = 8100
    found = collections.Counter(places(way(n, 0)))
    corners = range(-augment.PADDING, augment.PADDING + 1)
    every = {(r, c, m) for r in corners for c in corners for m in (False, True)}
    assert set(found) == every
    expected = n / len(every)  # 50; chi-square with 161 degrees of freedom
    chi_square = sum((found[one] - expected) ** 2 / expected for one in every)
    assert 161 - 5 * (2 * 161) ** 0.5 < chi_square < 161 + 5 * (2 * 161) ** 0.5


def test_an_image_cropped_at_a_place_is_the_same_both_ways():
    """Byte for byte, black border included."""
    alone = {place: one for one in one_by_one(3000, 1) for place in places(one[None])}
    batch = in_batches(3000, 2)
    for place, one in zip(places(batch), batch, strict=True):
        assert torch.equal(one, alone[place])


def test_a_batch_without_a_generator_is_what_the_dataset_gives():
    plain = images()
    for channels_last in (False, True):
        kept = augment.OnDevice(plain, CPU, channels_last)
        chosen = torch.tensor([4, 0, 6, 4])
        batch, labels = kept.batch(chosen)
        assert torch.equal(batch, torch.stack([plain[i][0] for i in chosen.tolist()]))
        assert labels.tolist() == [plain[i][1] for i in chosen.tolist()]
        assert batch.is_contiguous(memory_format=torch.channels_last) == channels_last
        assert batch.is_contiguous() != channels_last


def test_a_plain_loader_reads_whole_batches_of_it():
    plain, kept = images(), augment.OnDevice(images(), CPU)
    for one, other in zip(DataLoader(plain, 3), DataLoader(kept, 3), strict=True):
        assert all(map(torch.equal, one, other))
    assert torch.equal(kept[5][0], plain[5][0]) and len(kept) == 7


def batches(rank, epoch, seed=5, size=2, n=7):
    sampler = DistributedSampler(range(n), size, rank, shuffle=True, seed=1)
    sampler.set_epoch(epoch)
    loader = DataLoader(images(n), 3, sampler=sampler)
    return loader, augment.Batches(loader, augment.OnDevice(images(n), CPU), seed)


def test_the_batches_are_those_of_the_loader_in_its_order():
    for rank in range(2):
        for epoch in range(2):
            loader, kept = batches(rank, epoch, seed=None)
            assert len(kept) == len(loader) and kept.sampler is loader.sampler
            for one, other in zip(loader, kept, strict=True):
                assert all(map(torch.equal, one, other))


def test_the_stream_depends_on_seed_epoch_and_rank_alone():
    def pixels(*which, **more):
        return torch.cat([image for image, _ in batches(*which, **more)[1]])

    first = pixels(0, 0)
    torch.manual_seed(99)  # what others draw does not matter
    assert torch.equal(first, pixels(0, 0))
    loader, again = batches(0, 0)
    list(again), again.sampler.set_epoch(1)
    assert torch.equal(torch.cat([i for i, _ in again]), pixels(0, 1)), "from epoch 1 as after 0"
    # the same images in the same order, so that only crops can differ
    one = augment.OnDevice(gradient(), CPU)
    streams = set()
    for seed in (0, 1):
        for epoch in range(3):
            for rank in range(3):
                sampler = DistributedSampler(range(60), 3, rank, shuffle=False)
                sampler.set_epoch(epoch)
                loader = DataLoader(range(60), 20, sampler=sampler)
                kept = augment.Batches(loader, Repeated(one), seed)
                streams.add(str(places(torch.cat([i for i, _ in kept]))))
    assert len(streams) == 18


class Repeated(augment.OnDevice):
    """One image under all numbers."""

    def __init__(self, images):
        self.__dict__ = images.__dict__

    def batch(self, chosen, generator=None, *more):
        return super().batch(torch.zeros_like(chosen), generator, *more)


def test_all_pixels_are_those_of_each_image():
    every = images()
    assert torch.equal(every.all_pixels(), torch.stack([images().pixels(i) for i in range(7)]))
