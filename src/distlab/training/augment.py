"""Images cropped and mirrored at random: one by one as they are read, or in batches on the device.

Both draw from one distribution, that of He et al. (2015, section 4.2): an image gets a border of
four black pixels, 32×32 of the 40×40 are cut out, each of the 81 positions with equal probability,
and half of the images are mirrored. A network that sees the same images often then learns less of
them by heart. The border can also be the image's own reflection, which is more like a real image.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

import torch
from torch.utils.data import DataLoader, Dataset

from distlab import training
from distlab.training import data

if TYPE_CHECKING:
    from torch.utils.data import DistributedSampler

PADDING = 4  # pixels on each side
BORDERS = ("zeros", "reflect")  # what they show: black, or the pixel as far inside the edge


@functools.lru_cache(maxsize=4)
def _first_sides(n: int, seed: int) -> torch.Tensor:
    return torch.randint(2, (n,), generator=torch.Generator().manual_seed(seed)).bool()


def alternating(n: int, seed: int, epoch: int) -> torch.Tensor:
    """Which of n images are mirrored in an epoch, so that two epochs show each image both ways.

    In the first epoch half of the images are, drawn at random; then all change sides from epoch to
    epoch. With mirrors at random, half of the images would look the same in two successive epochs.
    Source: Jordan, 2024, section 3.6 (https://arxiv.org/abs/2404.00498).

    Args:
        seed: the same on all ranks, since images change ranks from epoch to epoch.

    Returns:
        A bool tensor of shape (n,) on the CPU.
    """
    first = _first_sides(n, seed)
    return first if epoch % 2 == 0 else ~first


class Augmented(Dataset[tuple[torch.Tensor, int]]):
    """Images, each cropped and mirrored whenever it is read, by torchvision's transforms.

    These draw from torch's default generator.

    Args:
        shift: pixels by which an image is shifted at most.
        seed: for `alternating` mirrors; `None`: images are mirrored at random.
        border: one of `BORDERS`.

    With a `seed`, set `sampler` to the sampler of the loader, which knows the epoch. Workers are
    told of a new epoch too, also those that persist.
    """

    def __init__(
        self,
        images: data.Images,
        shift: int = PADDING,
        seed: int | None = None,
        border: str = "zeros",
    ) -> None:
        from distlab.training.vision import transforms

        self._images, self._seed = images, seed
        self._epoch = torch.zeros((), dtype=torch.int64).share_memory_()
        mode = "reflect" if border == "reflect" else "constant"
        self._crop = transforms.RandomCrop(data.SIDE, padding=shift, padding_mode=mode)
        self._mirror = transforms.RandomHorizontalFlip()

    @property
    def sampler(self) -> DistributedSampler[Any]:
        return self._sampler

    @sampler.setter
    def sampler(self, sampler: DistributedSampler[Any]) -> None:
        """Workers that persist keep the sampler that they began with: they share its epoch."""
        self._sampler = sampler
        if self._seed is None:
            return
        self._epoch.fill_(sampler.epoch)
        note = functools.partial(_note_epoch, self._epoch, type(sampler).set_epoch, sampler)
        sampler.set_epoch = note  # type: ignore[method-assign]

    def __len__(self) -> int:
        return len(self._images)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        pixels = self._crop(self._images.pixels(index))
        if self._seed is None:
            pixels = self._mirror(pixels)
        elif bool(_first_sides(len(self), self._seed)[index]) != bool(self._epoch % 2):
            pixels = pixels.flip(-1)
        return data.normalised(pixels), int(self._images.labels[index])


def _note_epoch(
    shared: torch.Tensor, set_epoch: Callable[[Any, int], None], sampler: Any, epoch: int
) -> None:
    set_epoch(sampler, epoch)
    shared.fill_(epoch)


class OnDevice(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """All images of a set as one tensor of bytes on a device, from which batches are cut.

    It keeps them with a border around them, channel last: 4.8 kB an image, 240 MB for CIFAR-10.

    Args:
        images: every one of them is read here.
        channels_last: batches lie in memory as convolutions like it best (pixel by pixel); their
            shape is (b, 3, 32, 32) in either case.
        border: one of `BORDERS`.
    """

    def __init__(
        self,
        images: data.Images,
        device: torch.device,
        channels_last: bool = False,
        border: str = "zeros",
    ) -> None:
        pixels = images.all_pixels().permute(0, 2, 3, 1)
        side = data.SIDE + 2 * PADDING
        self._pixels = torch.zeros(len(pixels), side, side, 3, dtype=torch.uint8)
        if border == "reflect":
            inside = (data.SIDE - 1 - torch.arange(-PADDING, data.SIDE + PADDING).abs()).abs()
            at = data.SIDE - 1 - inside  # 4 3 2 1 0 1 2 … 30 31 30 29 28 27
            self._pixels[:] = pixels[:, at[:, None], at[None, :]]
        else:
            self._pixels[:, PADDING:-PADDING, PADDING:-PADDING] = pixels
        self._pixels = self._pixels.to(device)
        self._labels = images.labels.to(device)
        self._side = torch.arange(data.SIDE, device=device)
        self._channels_last = channels_last

    def __len__(self) -> int:
        return len(self._labels)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """A `DataLoader` calls this in place of `__getitem__`, once for a whole batch."""
        images, labels = self.batch(torch.as_tensor(indices, device=self._labels.device))
        return list(zip(images, labels, strict=True))

    def batch(
        self,
        chosen: torch.Tensor,
        generator: torch.Generator | None = None,
        shift: int = PADDING,
        sides: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Images and labels, shapes (b, 3, 32, 32) and (b,), with one gather for all of them.

        Args:
            chosen: their numbers, shape (b,), on the device.
            generator: of the device, what crops and mirrors are drawn from; `None`: images are as
                they are.
        """
        rows = columns = (self._side + PADDING).expand(len(chosen), -1)
        if generator is not None:
            kind: dict[str, Any] = {"generator": generator, "device": chosen.device}
            corner = torch.randint(2 * shift + 1, (2, len(chosen), 1), **kind) + PADDING - shift
            if sides is None:
                mirrored = torch.randint(2, (len(chosen), 1), **kind).bool()
            else:
                mirrored = sides[chosen].unsqueeze(1)
            rows = corner[0] + self._side
            columns = corner[1] + torch.where(mirrored, self._side.flip(0), self._side)
        pixels = self._pixels[chosen[:, None, None], rows[:, :, None], columns[:, None, :]]
        pixels = pixels.permute(0, 3, 1, 2)  # the gather has left channels last
        if not self._channels_last:
            pixels = pixels.contiguous()
        return data.normalised(pixels), self._labels[chosen]


class Batches:
    """The batches of a loader, taken from images that lie on the device.

    In each epoch a rank has a stream of random numbers of its own, which depends on the seed alone.

    Args:
        loader: its `sampler`, a `DistributedSampler`, says which images come in which order.
        images: what the loader would have read.
        seed: for crops and mirrors; `None`: images are as they are.
        shift: pixels by which an image is shifted at most.
        alternate: images are mirrored as `alternating` says, not at random.
    """

    def __init__(
        self,
        loader: DataLoader[Any],
        images: OnDevice,
        seed: int | None = None,
        shift: int = PADDING,
        alternate: bool = False,
    ) -> None:
        self.sampler = cast("DistributedSampler[Any]", loader.sampler)
        self.batch_size = cast(int, loader.batch_size)
        self._images, self._seed = images, seed
        self._shift, self._alternate = shift, alternate

    def __len__(self) -> int:
        return math.ceil(len(self.sampler) / self.batch_size)

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        device = self._images._labels.device
        generator = sides = None
        if self._seed is not None and self._alternate:
            sides = alternating(len(self._images), self._seed, self.sampler.epoch).to(device)
        if self._seed is not None:
            seed = training.epoch_seed(self._seed, self.sampler.epoch, self.sampler.rank)
            generator = torch.Generator(device).manual_seed(seed)
        order = torch.tensor(list(self.sampler), device=device)
        for chosen in order.split(self.batch_size):
            yield self._images.batch(chosen, generator, self._shift, sides)
