"""A device that is not there, for tensors: they lie on the CPU, and whoever mixes them with others
is refused, as a GPU refuses it.

    pretended.install()
    torch.ones(2).to("pretended") + torch.ones(2)  # RuntimeError: Expected all tensors to be …

Random numbers are drawn from a generator of its own, autograd runs on a thread of its own, and gloo
carries what it carries of a GPU. A rank gets the device with a function's pickle, by `on_ranks`; it
stays for as long as the process lives. Not for functional collectives and DTensors, whose tensors
are of classes of their own.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import os
import pickle
import site
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from distlab.engines import ranks
from distlab.rank import process_group

KIND = "pretended"
#: these take tensors of several devices
_ACROSS = {"copy_", "_to_copy", "_copy_from", "set_", "is_same_size"}
#: and these gloo carries by itself: all else has to go by way of the CPU
_BY_GLOO = {"allreduce_", "broadcast_"}
_INDEXED = {"index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index"}
#: these would make a tensor of another size first, which ours cannot change
_FACTORIES = (
    "empty.memory_format", "empty_strided", "arange", "arange.start", "arange.start_step",
    "linspace", "eye", "eye.m", "randperm", "randperm.generator", "tril_indices", "triu_indices",
)  # fmt: skip
_kept: list[torch.library.Library] = []
_random: list[torch.Tensor] = []  # the state of the device's generator


class There(torch.Tensor):
    """A tensor that says it lies there. Its memory is that of `held`, a plain one."""

    __torch_function__ = torch._C._disabled_torch_function_impl
    held: torch.Tensor
    is_cuda = True  # for what asks that in order to go by way of the CPU

    @staticmethod
    def __new__(cls, held: torch.Tensor) -> There:
        made = torch.Tensor._make_subclass(
            cls, held.detach(), held.requires_grad,
            dispatch_device=True, device_for_backend_keys=_device(),
        )  # fmt: skip
        made.held = held.detach()
        made.held.untyped_storage().there = True
        return made

    @property
    def data(self) -> There:
        return self.detach()

    @data.setter
    def data(self, new: There) -> None:
        torch.Tensor.data.__set__(self, new)
        self.held = new.held

    def numpy(self, *_: Any, **__: Any) -> Any:
        raise TypeError(
            f"can't convert {_device()} device type tensor to numpy. Use Tensor.cpu() to copy the "
            "tensor to host memory first."
        )

    __array__ = numpy

    def tolist(self) -> Any:
        return self.held.tolist()

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return f"{self.held!r} there"

    def __deepcopy__(self, memo: dict[int, Any]) -> There:
        if id(self) not in memo:
            copied = self.detach().clone().requires_grad_(self.requires_grad)
            if isinstance(self, torch.nn.Parameter):
                copied = torch.nn.Parameter(copied, self.requires_grad)
            memo[id(self)] = copied
        return memo[id(self)]

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.prim.device.default:
            return _device()
        return _done(func, args, dict(kwargs or {}))


class _Module:
    """What torch looks for in the module of a device."""

    _is_in_bad_fork = is_initialized = staticmethod(lambda: False)
    is_available = staticmethod(lambda: True)
    device_count = staticmethod(lambda: 1)
    current_device = staticmethod(lambda: 0)
    get_amp_supported_dtype = staticmethod(lambda: [torch.float16, torch.bfloat16])
    get_rng_state = staticmethod(lambda device=None: _random[0].clone())

    @staticmethod
    def set_rng_state(state: torch.Tensor, device: Any = None) -> None:
        _random[:] = [state.clone()]

    @staticmethod
    def manual_seed_all(seed: int) -> None:
        _random[:] = [torch.Generator().manual_seed(int(seed) + 1).get_state()]

    manual_seed = manual_seed_all


def install() -> None:
    """Make the device in this process, once."""
    if _kept:
        return
    _setup_privateuseone_for_python_backend(KIND, _Module())
    own = torch.library.Library("aten", "IMPL")
    _kept.append(own)
    for name in _FACTORIES:
        packet, _, overload = name.partition(".")
        func = getattr(getattr(torch.ops.aten, packet), overload or "default")
        own.impl(func, functools.partial(_factory, func), "PrivateUse1")
    own.impl("copy_", _copied, "PrivateUse1")
    own.impl("_copy_from", lambda a, b, _=False: _copied(b, a), "PrivateUse1")
    torch.cuda.get_device_capability = lambda *_: (9, 0)  # broadcasts
    process_group.RecordedGroup._stages = property(lambda self: self._gloo, lambda self, _: None)
    _Module.manual_seed_all(0)
    _let_storages_tell()


def _let_storages_tell() -> None:
    """Where a storage lies, and that a tensor of another device cannot have it."""
    plain_device = torch.UntypedStorage.device
    torch.UntypedStorage.device = property(
        lambda self: _device() if hasattr(self, "there") else plain_device.__get__(self)
    )
    plain_set = torch.Tensor.set_

    def set_(self: torch.Tensor, source: Any = None, *more: Any) -> torch.Tensor:
        there = hasattr(source, "there") or isinstance(source, There)
        if there != isinstance(self, There) and source is not None:
            raise RuntimeError("Expected all tensors to be on the same device: set_")
        if not there:
            return plain_set(self, *(() if source is None else (source, *more)))
        return There(plain_set(torch.empty(0, dtype=self.dtype, device="cpu"), _held(source)))

    torch.Tensor.set_ = set_


@functools.cache
def _device() -> torch.device:
    return torch.device(KIND, 0)


def _held(value: Any) -> Any:
    return value.held if isinstance(value, There) else value


def _factory(func: Any, *args: Any, device: Any = None, pin_memory: Any = None, **kwargs: Any):
    return There(_drawn(func, args, {**kwargs, "device": "cpu"}))


def _copied(to: Any, source: Any, non_blocking: bool = False) -> Any:
    _held(to).copy_(_held(source))
    return to


def _drawn(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """What an operation returns that may draw random numbers: those of the device."""
    if any(isinstance(one, torch.Generator) for one in (*args, *kwargs.values())):
        raise RuntimeError(f"Expected a '{KIND}' device type for generator but found 'cpu'")
    if torch.Tag.nondeterministic_seeded not in func.tags:
        return func(*args, **kwargs)
    before = torch.get_rng_state()
    torch.set_rng_state(_random[0])
    result = func(*args, **kwargs)
    _random[:] = [torch.get_rng_state()]
    torch.set_rng_state(before)
    return result


def _done(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """What an operation makes of tensors of which some lie there."""
    _refuse_mixtures(func, args, kwargs)
    to_cpu = kwargs.get("device") is not None and torch.device(kwargs["device"]).type == "cpu"
    if kwargs.get("device") is not None:
        kwargs["device"] = "cpu"
    inner = pytree.tree_map(_held, (args, kwargs))
    result = _drawn(func, *inner)
    return result if to_cpu else _wrapped(func, args, kwargs, result)


def _wrapped(func: Any, args: Any, kwargs: dict[str, Any], result: Any) -> Any:
    """The result with its tensors there; what was written into stays the same object."""
    given = {id(one.held): one for one in pytree.tree_leaves((args, kwargs)) if _is_there(one)}
    for one in given.values():
        assert one.shape == one.held.shape, f"{func} changes a size, which this cannot do"

    def there(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or isinstance(value, There):
            return value
        return given[id(value)] if id(value) in given else There(value)

    return pytree.tree_map(there, result)


def _is_there(value: Any) -> bool:
    return isinstance(value, There)


def _tensors(*trees: Any) -> Iterator[torch.Tensor]:
    return (one for one in pytree.tree_leaves(trees) if isinstance(one, torch.Tensor))


def _refuse_mixtures(func: Any, args: Any, kwargs: dict[str, Any]) -> None:
    namespace, _, name = func._schema.name.partition("::")
    if namespace == "c10d" and name not in _BY_GLOO:
        raise RuntimeError(f"gloo does not carry tensors of {_device()} in {name}")
    if name in _ACROSS or "c10d" in namespace:
        return
    if name in _INDEXED:
        if not _is_there(args[0]) and any(map(_is_there, _tensors(args[1]))):
            raise RuntimeError(
                "indices should be either on cpu or on the same device as the indexed tensor (cpu)"
            )
        args = (args[0], *args[2:])
    others = [one for one in _tensors(args, kwargs) if not _is_there(one)]
    if any(one.dim() for one in others) and any(map(_is_there, _tensors(args, kwargs))):
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but got {others[0].device} and "
            f"{_device()} ({func})"
        )


@contextlib.contextmanager
def own_ranks() -> Iterator[None]:
    """Ranks of this block alone: the device stays in a process."""
    before, ranks._pool = ranks._pool, None
    try:
        yield
    finally:
        ranks.end_local()
        ranks._pool = before


def on_ranks(pickled: bytes) -> bytes:
    """A pickled function as one that makes the device first, where it is unpickled."""
    first = _Reduced(site.addsitedir, os.path.dirname(__file__))
    return pickle.dumps(_Reduced(operator.getitem, (first, _Reduced(_unpickled, pickled)), 1))


class _Reduced:
    """Is, unpickled, what a function returns for these arguments."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.told = function, arguments

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self.told


def _unpickled(pickled: bytes) -> Any:
    install()
    return pickle.loads(pickled)
