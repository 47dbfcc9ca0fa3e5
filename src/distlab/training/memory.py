"""Counts the bytes of tensors that a rank holds, now and at most.

    with tracked(device) as used:
        model = make_model().to(device)
        train(model)
    print(used.now, used.peak)

On a GPU torch has counters of its own. On the CPU it has none, so the results of every operation
are looked at: a tensor made inside the `with` block counts until its memory is freed.
"""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import (
    TorchDispatchMode,
    is_traceable_wrapper_subclass,
    is_traceable_wrapper_subclass_type,
)


class Used:
    """Bytes held since the beginning: `now` and at most (`peak`)."""

    @property
    def now(self) -> int:
        raise NotImplementedError

    @property
    def peak(self) -> int:
        raise NotImplementedError

    def begin_again(self) -> None:
        """Reset the peak to what is held now."""
        raise NotImplementedError


class _OnGPU(Used):
    """torch's counters of one device, minus what was held before."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        # the first matrix products of a process allocate a workspace, which stays
        layer = torch.nn.Linear(8, 8, device=device)
        layer(torch.ones(8, 8, device=device)).sum().backward()
        del layer
        self._before = torch.cuda.memory_allocated(device)
        self.begin_again()

    @property
    def now(self) -> int:
        return torch.cuda.memory_allocated(self._device) - self._before

    @property
    def peak(self) -> int:
        return torch.cuda.max_memory_allocated(self._device) - self._before

    def begin_again(self) -> None:
        torch.cuda.reset_peak_memory_stats(self._device)


class Storages(TorchDispatchMode, Used):
    """The storages of what operations return, each counted once, however many views it has.

    A storage may be resized while it lives (FSDP empties those of gathered parameters), so its size
    is asked for each time.

    Args:
        kind: the type of the devices whose memory counts; `None` for all.
    """

    def __init__(self, kind: str | None = "cpu") -> None:
        super().__init__()
        self._kind = kind
        self._held: dict[int, weakref.ref[torch.UntypedStorage]] = {}
        self._peak = 0

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        given = {id(storage) for storage in storages((args, kwargs))}
        for storage in storages(result):
            if self._kind not in (None, storage.device.type):
                continue
            key = id(storage)
            held = self._held.get(key)
            if (held is None or held() is not storage) and key not in given:
                self._held[key] = weakref.ref(storage)  # new, and not a view of an argument
        self._peak = max(self._peak, self.now)
        return result

    @property
    def now(self) -> int:
        return sum(storage.nbytes() for storage in self.living())

    @property
    def peak(self) -> int:
        return self._peak

    def living(self) -> list[torch.UntypedStorage]:
        """The storages that somebody still holds."""
        living = [(key, held()) for key, held in self._held.items()]
        self._held = {key: self._held[key] for key, storage in living if storage is not None}
        return [storage for _, storage in living if storage is not None]

    def begin_again(self) -> None:
        self._peak = self.now


def hold_others(types: Iterable[type]) -> bool:
    """Is one of these a type of tensors that hold other tensors and compute on those, as DTensor?

    A `TorchDispatchMode` that returns `NotImplemented` for such types then sees the operations on
    the inner tensors: what is really computed and held on this rank, where the outer tensors have
    the shape of the whole.
    """
    return any(map(is_traceable_wrapper_subclass_type, types))


def is_fake(tensor: torch.Tensor) -> bool:
    """Has it a shape but no elements? DTensor uses such tensors to find out shapes of results."""
    fakes = sys.modules.get("torch._subclasses.fake_tensor")  # before it is imported there are none
    is_one = fakes is not None and isinstance(tensor, fakes.FakeTensor)
    return is_one or tensor.device.type == "meta"


def tensors(tree: Any) -> Iterator[torch.Tensor]:
    """All tensors in lists, dicts and the like; of a DTensor the part on this rank."""
    for leaf in pytree.tree_leaves(tree):
        if is_traceable_wrapper_subclass(leaf):
            names, _ = leaf.__tensor_flatten__()
            yield from tensors([getattr(leaf, name) for name in names])
        elif isinstance(leaf, torch.Tensor) and not is_fake(leaf):
            yield leaf


def storages(tree: Any) -> Iterator[torch.UntypedStorage]:
    """The memory of these tensors."""
    return (tensor.untyped_storage() for tensor in tensors(tree))


@contextlib.contextmanager
def tracked(device: torch.device | str = "cpu") -> Iterator[Used]:
    """Count the bytes of tensors on `device` from here on.

    Args:
        device: a GPU, of which only this process's memory is counted, or the CPU.
    """
    device = torch.device(device)
    if device.type == "cuda":
        yield _OnGPU(device)
        return
    with Storages() as used:
        yield used


def held(*trees: Any) -> int:
    """Bytes of all tensors in lists, dicts and the like: memory that several share counts once, and
    of a DTensor only the part on this rank.
    """
    distinct = {(s.data_ptr(), s.nbytes()) for s in storages(trees)}
    return sum(nbytes for _, nbytes in distinct)
