"""GPUs that are not there: a harness calls an answer as if its machine had some.

Replaced is what torch's functions end in, so that it does not matter by which name, or from which
module, an answer calls one of them. Tensors stay on the CPU.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from distlab.rank import pretended_streams


class PretendedGpus:
    """A number of GPUs, perhaps none; `current` is the one that was chosen last.

    Attributes:
        generators: how many generators of random numbers there are, usually one for each.
        seeds: what these were seeded with, in order.
    """

    def __init__(self, count: int) -> None:
        self.count = self.generators = count
        self.current = 0
        self.seeds: list[int] = []

    @contextlib.contextmanager
    def there(self) -> Iterator[None]:
        """Meanwhile torch finds these GPUs, and no others."""
        with contextlib.ExitStack() as stack:
            for owner, name, value in self._replaced():
                stack.enter_context(_replaced(owner, name, value))
            yield

    def choose(self, index: int) -> None:
        self.need(index)
        self.current = index if index >= 0 else self.current

    def need(self, index: int) -> None:
        if index >= self.count:
            raise RuntimeError(f"CUDA error: no CUDA device {index}, invalid device ordinal")

    def _exchange(self, index: int) -> int:
        """What `torch.cuda.device` and `torch.accelerator.device_index` begin and end with."""
        before = self.current
        self.choose(index)
        return before

    def _properties(self, index: int) -> SimpleNamespace:
        return SimpleNamespace(
            name="a pretended GPU", major=8, minor=0, total_memory=16 << 30,
            multi_processor_count=100,
        )  # fmt: skip

    def _memory(self, index: int) -> tuple[int, int]:
        """What is free of a GPU's memory, and all of it: nothing ever lies there."""
        total: int = self._properties(index).total_memory
        return total, total

    def _replaced(self) -> list[tuple[Any, str, Any]]:
        """(owner, name, value) of all that is replaced."""
        import torch

        def count() -> int:
            return self.count

        def current() -> int:
            return self.current

        def nothing(*args: object) -> None:
            return None

        def accelerator() -> torch.device | None:
            return torch.device("cuda") if self.count else None

        generators = tuple(
            NotedGenerator(torch.Generator(), self.seeds) for _ in range(self.generators)
        )
        return [
            (torch.cuda, "_is_compiled", lambda: self.count > 0),
            (torch.cuda, "_initialized", self.count > 0),
            (torch.cuda, "_cached_device_count", self.count),
            (torch.cuda, "_exchange_device", self._exchange),
            (torch.cuda, "_maybe_exchange_device", self._exchange),
            (torch.cuda, "_get_device_properties", self._properties),
            (torch.cuda, "default_generators", generators),
            (torch._C, "_cuda_getDeviceCount", count),
            (torch._C, "_cuda_setDevice", self.choose),
            (torch._C, "_cuda_getDevice", current),
            (torch._C, "_cuda_synchronize", nothing),
            (torch._C, "_cuda_emptyCache", nothing),
            (torch._C, "_cuda_ipc_collect", nothing),
            (torch._C, "_cuda_memoryStats", lambda index: {}),
            (torch._C, "_cuda_resetPeakMemoryStats", nothing),
            (torch._C, "_cuda_resetAccumulatedMemoryStats", nothing),
            (torch._C, "_cuda_setMemoryFraction", nothing),
            (torch.cuda, "_cudart", SimpleNamespace(cudaMemGetInfo=self._memory)),
            (torch._C, "_accelerator_getAccelerator", accelerator),
            (torch._C, "_accelerator_setDeviceIndex", self.choose),
            (torch._C, "_accelerator_getDeviceIndex", current),
            (torch._C, "_accelerator_exchangeDevice", self._exchange),
            (torch._C, "_accelerator_maybeExchangeDevice", self._exchange),
            (torch._C, "_accelerator_synchronizeDevice", nothing),
            (torch._C, "_accelerator_isAllocatorInitialized", lambda: False),
            (torch._C, "_accelerator_getMemoryInfo", self._memory),
            *pretended_streams.replaced(self.need, self.choose),
        ]


class NotedGenerator:
    """A generator of random numbers that notes in `seeds` what it is seeded with."""

    def __init__(self, generator: Any, seeds: list[int]) -> None:
        self._generator, self._seeds = generator, seeds

    def manual_seed(self, seed: int) -> NotedGenerator:
        self._seeds.append(int(seed))
        self._generator.manual_seed(seed)
        return self

    def seed(self) -> int:
        """Seeds it at random, as `torch.cuda.seed_all` does."""
        drawn: int = self._generator.seed()
        self._seeds.append(drawn)
        return drawn

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)


@contextlib.contextmanager
def noted_seeds(seeds: list[int]) -> Iterator[None]:
    """Meanwhile what the GPUs that are there are seeded with goes into `seeds`."""
    import torch

    torch.cuda.init()  # before it torch only remembers the seeds
    real = torch.cuda.default_generators
    noted = tuple(NotedGenerator(generator, seeds) for generator in real)
    with _replaced(torch.cuda, "default_generators", noted):
        yield


def _replaced(owner: Any, name: str, value: Any) -> contextlib.AbstractContextManager[Any]:
    from unittest import mock

    return mock.patch.object(owner, name, value, create=True)
