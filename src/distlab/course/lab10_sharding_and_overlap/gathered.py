"""Which layers' parameters lie whole in this rank's memory, from moment to moment.

    with Gathered(others) as seen:
        fsdp_step(...)
    print(seen.most)                 # layers whose parameters were there at the same time

A layer counts while tensors made inside the `with` hold what each other rank owns of it: then it
has been put together, in whichever buffers, layout and sign. (A buffer that is used again may hold
what one other rank owns of the layer before, behind the end of a smaller one.)
"""

from __future__ import annotations

import gc
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import torch
from torch.utils import _python_dispatch

from distlab.training.memory import Storages, storages, tensors

_MARKERS = 8  # values of one rank's share that tell it from everything else
_UNINITIALISED = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"}


class Moment(NamedTuple):
    """What one look found: the numbers of the layers, and the bytes of all tensors."""

    layers: frozenset[int]
    nbytes: int


class _Known:
    """What is known of a storage, above all the shares that the last look saw in it."""

    def __init__(self, storage: torch.UntypedStorage) -> None:
        self.storage = weakref.ref(storage)
        self.shares: frozenset[int] = frozenset()
        self.extent = 0  # bytes up to the end of the last tensor in it
        self.written = False  # since the last look
        self.filling = False  # a collective may write into it at any time
        self.on_its_way = False  # result of a functional collective not waited for yet


class Gathered(Storages):
    """Watches the tensors of this process while its context lasts, after every operation.

    Args:
        others: for each layer a list of tensors, such as what each other rank owns of its weight.

    `moments` is what the looks have found, `most` the largest number of layers found at once. A
    layer has to be there at two looks in a row: memory that is about to be overwritten may still
    hold what lay there before.
    """

    def __init__(self, others: Sequence[Sequence[torch.Tensor]]) -> None:
        super().__init__(kind=None)  # every device: a GPU's parameters may come by way of the CPU
        self._shares = _Shares(others)
        self._known: dict[int, _Known] = {}
        self._before: frozenset[int] = frozenset()
        self.moments: list[Moment] = []
        self.most = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = super().__torch_dispatch__(func, types, args, kwargs)
        self._note(func, args, kwargs or {}, result)
        self.look()
        return result

    def _note(self, func, args, kwargs, result) -> None:
        """Note which storages this operation has made or written into."""
        namespace, _, name = func._schema.name.partition("::")
        given = {id(storage) for storage in storages((args, kwargs))}
        written = {id(s) for s in storages(list(_written_by(func, args, kwargs)))}
        for tensor in tensors((args, kwargs, result)):
            storage = tensor.untyped_storage()
            key = id(storage)
            known = self._known.get(key)
            if known is None or known.storage() is not storage:
                known = self._known[key] = _Known(storage)
                known.on_its_way = "c10d_functional" in namespace
                if name in _UNINITIALISED and key not in given:
                    _overwrite(storage)
            known.extent = max(known.extent, _end(tensor))
            if known.on_its_way:
                if "c10d_functional" in namespace and name != "wait_tensor" or _is_view(func):
                    continue
                known.on_its_way, known.written = False, True  # what is used has been waited for
            known.written |= key in written or key not in given
            # storages made by other packages' operations may be filled later, too
            known.filling |= "c10d" in namespace or (namespace != "aten" and key not in given)

    def look(self) -> None:
        """Note what is there now."""
        with _python_dispatch._disable_current_modes():
            there = self._there()
            if len(there) > max(self.most, 1):
                gc.collect()  # unreachable tensors do not count
                there = self._there()
        layers, self._before = there & self._before, there
        self.most = max(self.most, len(layers))
        self.moments.append(Moment(layers, self.now))

    def _there(self) -> frozenset[int]:
        found = {}
        for storage in self.living():
            known = self._known.get(id(storage))
            if known is None or known.storage() is not storage:
                continue
            found[id(storage)] = known
            self._look_into(storage, known)
        self._known = found
        return self._shares.layers(frozenset().union(*(known.shares for known in found.values())))

    def _look_into(self, storage: torch.UntypedStorage, known: _Known) -> None:
        if not storage.nbytes():
            known.shares = frozenset()
        elif known.written or known.filling:
            known.shares = self._shares.in_memory(storage, known.extent)
        known.written = False


class _Shares:
    """What other ranks own, recognised by some values of each share."""

    def __init__(self, others: Sequence[Sequence[torch.Tensor]]) -> None:
        known = [
            (layer, found)
            for layer, shares in enumerate(others)
            for share in shares
            if (found := _distinct(share)) is not None
        ]
        self._of = Counter(layer for layer, _ in known)
        self._layers = [layer for layer, _ in known]
        self._fewest = min((len(found) for _, found in known), default=0)
        markers = [_some_of(found) for _, found in known]
        whole = torch.cat(markers) if markers else torch.empty(0)
        self._markers, order = whole.sort()
        device = whole.device
        lengths = [len(some) for some in markers]
        self._wanted = torch.tensor(lengths, dtype=torch.int64, device=device)
        # which share each of the sorted markers belongs to
        shares = torch.arange(len(markers), device=device)
        self._share = shares.repeat_interleave(self._wanted)[order]

    def in_memory(self, storage: torch.UntypedStorage, extent: int) -> frozenset[int]:
        """The shares that the first `extent` bytes of a storage hold whole."""
        size = self._markers.element_size()
        count = min(extent, storage.nbytes()) // size
        if not self._layers or count < self._fewest or storage.nbytes() % size:
            return frozenset()
        flat = torch.empty(0, dtype=self._markers.dtype, device=storage.device).set_(storage)
        flat = flat[:count].to(self._markers.device).abs()
        places = torch.searchsorted(self._markers, flat).clamp_(max=len(self._markers) - 1)
        seen = places[self._markers[places] == flat].unique()
        whole = self._share[seen].bincount(minlength=len(self._layers)) >= self._wanted
        return frozenset(whole.nonzero().flatten().tolist())

    def layers(self, shares: Iterable[int]) -> frozenset[int]:
        """The layers all of whose shares are among these."""
        found = Counter(self._layers[number] for number in shares)
        return frozenset(layer for layer, count in found.items() if count == self._of[layer])


def _distinct(tensor: torch.Tensor) -> torch.Tensor | None:
    """A tensor's distinct magnitudes without zero; `None` if too few to recognise it by."""
    flat = tensor.detach().reshape(-1).abs()
    found = flat[flat != 0].unique()
    return found if len(found) > 1 else None


def _some_of(values: torch.Tensor) -> torch.Tensor:
    count = len(values)
    places = torch.linspace(0, count - 1, min(_MARKERS, count), device=values.device)
    return values[places.round().long()].clone()


def _overwrite(storage: torch.UntypedStorage) -> None:
    """Fill uninitialised memory, which may still hold the weight of a layer freed before."""
    plain = torch.empty(0, dtype=torch.uint8, device=storage.device)
    plain.set_(storage).fill_(255)  # NaN in each float type


def _end(tensor: torch.Tensor) -> int:
    """Bytes from the beginning of its storage to its last element."""
    if not tensor.numel() or tensor.layout is not torch.strided:
        return 0
    last = sum(
        (length - 1) * step for length, step in zip(tensor.shape, tensor.stride(), strict=True)
    )
    return (tensor.storage_offset() + last + 1) * tensor.element_size()


def _written_by(func, args, kwargs) -> Iterator:
    """The arguments that an operation writes into."""
    for at, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            yield args[at] if at < len(args) else kwargs.get(argument.name)


def _is_view(func) -> bool:
    """Does it return its argument's memory, and leave it as it is?"""
    returned = [one.alias_info for one in func._schema.returns]
    return any(alias is not None and not alias.is_write for alias in returned)
