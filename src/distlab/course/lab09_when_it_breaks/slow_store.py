"""A slow store, on which races show in every run that elsewhere are a matter of microseconds."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from typing import Any

import torch.distributed as dist


class SlowStore(dist.Store):
    """A store that takes longer: an answer is late, and old by then, and what is written is late.

    A worker that asks, and then acts on the answer, is overtaken in between by others. That happens
    on any store, only rarely. Its timeout is its own: the store behind is another worker's as well.

    Args:
        seconds: by which each operation takes longer.
        only_writing: those that only read take no longer.
    """

    def __init__(self, store: dist.Store, seconds: float, only_writing: bool = False) -> None:
        super().__init__()
        self._store, self._writing = store, seconds
        self._reading = 0.0 if only_writing else seconds

    def clone(self) -> dist.Store:
        return self


def _timeout(store: Any) -> datetime.timedelta:  # torch's stubs do not know it
    timeout: datetime.timedelta = store.timeout
    return timeout


def _slowly(name: str, only_reads: bool):
    act = _WITHIN_A_TIMEOUT.get(name)

    def operation(self, *args, **kwargs):
        time.sleep(0.0 if only_reads else self._writing)
        try:
            if act is not None:
                return act(self._store, _timeout(self), *args, **kwargs)
            return getattr(self._store, name)(*args, **kwargs)
        finally:
            time.sleep(self._reading if only_reads else 0.0)

    return operation


def _wait(store, own, keys, timeout=None):
    return store.wait(keys, own if timeout is None else timeout)


def _get(store, own, key):
    store.wait([key], own)
    return store.get(key)


def _multi_get(store, own, keys):
    store.wait(keys, own)
    return store.multi_get(keys)


def _queue_pop(store, own, key, block=True):
    end = time.monotonic() + own.total_seconds()
    while block and time.monotonic() < end:
        try:
            return store.queue_pop(key, False)
        except dist.QueueEmptyError:
            time.sleep(_PAUSE)
    return store.queue_pop(key, False)


_PAUSE = 0.01  # seconds between two looks at an empty queue: there is no wait for one
#: the operations that wait for a key, at most as long as the timeout of the store that is asked
_WITHIN_A_TIMEOUT: dict[str, Callable[..., Any]] = {
    "get": _get, "multi_get": _multi_get, "queue_pop": _queue_pop, "wait": _wait,
}  # fmt: skip
_READING = ("check", "get", "list_keys", "multi_get", "num_keys", "queue_len", "wait")
_WRITING = (
    "add", "append", "compare_set", "delete_key", "multi_set", "queue_pop", "queue_push", "set",
)  # fmt: skip
#: the names by which torch's C++ calls them, when another store is put over this one
_INNER = {
    "deleteKey": "delete_key",
    "getNumKeys": "num_keys",
    "compareSet": "compare_set",
    "multiGet": "multi_get",
    "multiSet": "multi_set",
}
for _name in (*_READING, *_WRITING):
    setattr(SlowStore, _name, _slowly(_name, _name in _READING))
for _inner, _name in _INNER.items():
    setattr(SlowStore, _inner, getattr(SlowStore, _name))
for _name in ("has_extended_api", "hasExtendedApi"):
    setattr(SlowStore, _name, lambda self: True)
