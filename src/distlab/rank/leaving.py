"""Undo what a run has left in its rank, so that the next run finds a process like new.

What a function has set in modules of its own stays, as it does in a notebook.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # typeshed lacks it
import _thread
import atexit
import contextlib
import faulthandler
import gc
import operator
import os
import signal
import socket
import sys
import threading
import types
import warnings
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy
import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

from distlab.rank import connections
from distlab.rank.threads import start_uncounted

_BELOW = os.path.join(os.path.dirname(__file__), "execute.py")  # calls the function
_PATIENCE = 1.0  # seconds for groups that are ending, at the end of the process
_ending: list[_thread.LockType] = []  # held while groups of the run before end
_left_behind: list[Callable[[], object]] = []  # called to end what the run before left running
_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)


def end_later(action: Callable[[], object]) -> None:
    """Do this when the next run begins: all ranks of this one have returned by then."""
    _left_behind.append(action)


def end_group(kept: Collection[int] = ()) -> None:
    """Leave the groups of the run before: a rank that only goes away can abort its peers.

    Args:
        kept: sizes of default groups whose connections are kept.
    """
    while _left_behind:
        with contextlib.suppress(Exception):
            _left_behind.pop()()
    connections.keep(kept)
    groups = list(c10d._world.pg_map)
    at_port = any(_is_at_port(store) for _, store in c10d._world.pg_map.values())
    if dist.is_initialized():
        with contextlib.suppress(Exception):
            dist.destroy_process_group()
    _forget_groups()
    _forget_meshes()
    for group in groups:
        if recorder := getattr(group, "_recorder", None):
            recorder.open.clear()  # requests that nobody has waited for keep the group, which keeps
            recorder.buffered.clear()  # these
    if at_port:  # who meets there in the next run must not find the store of this one
        groups.clear()
        gc.collect()
    elif "DISTLAB_GRADING" in os.environ:  # where threads are limited: a group has two, or more
        groups.clear()
    elif groups:
        _let_go_beside(groups)


def _is_at_port(store: dist.Store | None) -> bool:
    """Is it a store that ranks of another run could meet at, by its port?"""
    while isinstance(store, dist.PrefixStore):
        store = store.underlying_store
    return isinstance(store, dist.TCPStore)


def _forget_groups() -> None:
    """Let torch count groups from zero again, as it does where leaving them has succeeded.

    By its number ranks find each other in a group: whoever was not let into one, because another
    rank had just died, would be alone with its next number, and all would wait for ever.
    """
    world = c10d._world
    world.default_pg, world.group_count = None, 0
    for known in (
        world.pg_map, world.pg_names, world.pg_group_ranks, world.pg_backend_config,
        world.pg_to_tag, world.tags_to_pg, world.pg_coalesce_state, world.comms,
    ):  # fmt: skip
        known.clear()
    c10d._unregister_all_process_groups()


def _forget_meshes() -> None:
    """Clear DTensor's caches: what they keep of an operation names the groups of the mesh on which
    it was first done, and a mesh of the same shape in the next run would find it.
    """
    if "torch.distributed.tensor._api" not in sys.modules:
        return
    # not by `tensor.debug`, which imports for longer than all else takes that a new rank does
    from torch.distributed.tensor import DTensor, _redistribute

    with contextlib.suppress(AttributeError):  # other versions of torch may keep nothing
        DTensor._op_dispatcher.sharding_propagator.propagate_op_sharding.cache_clear()
        torch._C._clear_DTensor_sharding_propagator_cache()
        _redistribute._gen_transform_infos.cache_clear()


def _let_go_beside(groups: list[dist.ProcessGroup]) -> None:
    """Let go of groups on a thread of their own: gloo closes their connections one by one, 10 ms
    each. It is none of `threading`'s threads, which a student's code may count.
    """
    done = _thread.allocate_lock()
    done.acquire()

    def let_go() -> None:
        groups.clear()
        done.release()

    _ending[:] = [*(one for one in _ending if one.locked()), done]
    try:
        start_uncounted(let_go, ())
    except RuntimeError:
        let_go()


@atexit.register
def _let_all_go() -> None:
    """Wait for groups that are ending: a process that exits in the middle of that aborts."""
    for done in _ending:
        done.acquire(timeout=_PATIENCE)


def _deterministic() -> tuple[bool, bool]:
    return (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
    )


def _set_deterministic(mode: tuple[bool, bool]) -> None:
    # not by `use_deterministic_algorithms`, which imports for seconds
    torch._C._set_deterministic_algorithms(mode[0], warn_only=mode[1])


#: what torch lets be computed less precisely on its own: `torch.backends` names them all
_PRECISIONS = (
    ("generic", "all"), ("cuda", "all"), ("cuda", "matmul"), ("cuda", "conv"), ("cuda", "rnn"),
    ("mkldnn", "all"), ("mkldnn", "matmul"), ("mkldnn", "conv"), ("mkldnn", "rnn"),
)  # fmt: skip


def _precision() -> tuple[str, ...]:
    """That of matrix products by its older name, and all by their newer ones."""
    try:
        older = torch.get_float32_matmul_precision()
    except RuntimeError:  # one was set by a newer name, and torch refuses to tell it by the older
        older = ""
    return older, *(torch._C._get_fp32_precision_getter(*one) for one in _PRECISIONS)


def _set_precision(precision: tuple[str, ...]) -> None:
    older, *newer = precision
    if older:  # first: it changes newer ones
        torch.set_float32_matmul_precision(older)
    for one, value in zip(_PRECISIONS, newer, strict=True):
        torch._C._set_fp32_precision_setter(*one, value)


def _set_filters(filters: list[Any]) -> None:
    warnings.filters[:] = filters  # type: ignore[index]  # a list, whatever typeshed says
    warnings._filters_mutated()  # type: ignore[attr-defined]  # as `catch_warnings` does


@contextlib.contextmanager
def _filters_put_back() -> Iterator[None]:
    """Restore the filters of warnings, but for those that a module has added when it was imported:
    it stays imported, and will not add them again.
    """
    before, add = list(warnings.filters), warnings._add_filter  # type: ignore[attr-defined]  # no stub
    added: list[tuple[tuple[Any, ...], bool]] = []

    def noted(*item: Any, append: bool) -> None:
        add(*item, append=append)
        there = warnings.filters[-1 if append else 0]
        if there == item and _within_an_import(sys._getframe(1)):
            added.append((there, append))

    warnings._add_filter = noted  # type: ignore[attr-defined]
    try:
        yield
    finally:
        warnings._add_filter = add  # type: ignore[attr-defined]
        now = list(warnings.filters)
        if now != before:
            _set_filters(before)
            for item, append in added:
                if any(one is item for one in now):  # else it was within a `catch_warnings`
                    add(*item, append=append)


def _within_an_import(frame: types.FrameType | None) -> bool:
    while frame is not None and frame.f_code.co_filename != _BELOW:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


#: settings of the whole process on which the result of a run can depend: how to read and to set one
_SETTINGS: tuple[tuple[Callable[[], Any], Callable[[Any], object]], ...] = (
    (torch.get_default_dtype, torch.set_default_dtype),
    (torch.get_default_device, torch.set_default_device),
    (torch.is_grad_enabled, torch.set_grad_enabled),
    (torch.is_anomaly_enabled, torch.set_anomaly_enabled),
    (_precision, _set_precision),
    (_deterministic, _set_deterministic),
    (numpy.geterr, lambda how: numpy.seterr(**how)),
    (sys.getrecursionlimit, sys.setrecursionlimit),
    (sys.gettrace, sys.settrace),
    (sys.getprofile, sys.setprofile),
    (gc.isenabled, lambda on: gc.enable() if on else gc.disable()),
    (socket.getdefaulttimeout, socket.setdefaulttimeout),
)


@contextlib.contextmanager
def put_back() -> Iterator[None]:
    """Restore afterwards what a process has once: the next run is not hit by an alarm of this one,
    and finds the same folder, environment, default tensors and treatment of warnings.
    """
    folder, environment, mask = _folder(), os.environ, os.umask(0o077)
    os.umask(mask)  # there is no other way to read it
    settings = [read() for read, _ in _SETTINGS]
    handlers, variables = _handlers(), _variables()
    try:
        with _filters_put_back():
            yield
    finally:
        for timer in _TIMERS:
            signal.setitimer(timer, 0)
        faulthandler.cancel_dump_traceback_later()
        _put_back_handlers(handlers)
        os.environ = environment  # noqa: B003  # a function may have put a plain dict there
        # last of all: what is still to be ended may need what it was begun with
        if (now := _variables()) != variables:
            _left_behind.insert(0, _Environment(_read(variables), _read(now)).put_back)
        os.umask(mask)
        if folder is not None and folder != _folder():
            with contextlib.suppress(OSError):  # it is gone
                os.chdir(folder)
        for (read, put), before in zip(_SETTINGS, settings, strict=True):
            if read() != before:
                put(before)


def _variables() -> dict[bytes, bytes]:
    """The environment as Python has it, of which `os.environ` decodes each on its own."""
    return dict(os.environ._data)  # type: ignore[attr-defined]  # typeshed lacks it


def _read(variables: dict[bytes, bytes]) -> dict[str, str]:
    return {os.fsdecode(name): os.fsdecode(value) for name, value in variables.items()}


class _Environment:
    """What a function has made of the environment: `before` it was called, and `after` it."""

    def __init__(self, before: dict[str, str], after: dict[str, str]) -> None:
        self._before, self._after = before, after

    def put_back(self) -> None:
        """Undo it, but for what somebody has changed since."""
        for name in self._before.keys() | self._after.keys():
            before, after = self._before.get(name), self._after.get(name)
            if before == after or os.environ.get(name) != after:
                continue
            if before is None:
                del os.environ[name]
            else:
                os.environ[name] = before


def _handlers() -> list[signal._HANDLER]:
    """What is called at signals, by their number."""
    # `signal` would make a member of an enumeration of each
    return [None, *map(_signal.getsignal, range(1, signal.NSIG))]


def _put_back_handlers(before: list[signal._HANDLER]) -> None:
    if threading.current_thread() is not threading.main_thread():  # no other may have set one
        return
    after = _handlers()
    if all(map(operator.is_, before, after)):
        return
    for number, (then, now) in enumerate(zip(before, after, strict=True)):
        if now is not then and then is not None:
            signal.signal(number, then)


def _folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None
