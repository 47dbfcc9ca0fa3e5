"""A slow store, on which races show in every run that elsewhere are a matter of microseconds."""

from __future__ import annotations

import datetime
import time
from typing import Any

import torch.distributed as dist


class SlowStore(dist.Store):
    """A store each of whose operations takes `seconds` longer: half before it, half after it.

    A worker that asks, and then acts on the answer, is overtaken in between by others. That happens
    on any store, only rarely.
    """

    def __init__(self, store: dist.Store, seconds: float) -> None:
        super().__init__()
        self._store, self._seconds, self._timeout = store, seconds, _timeout(self)

    def slowed(self) -> dist.Store:
        """The store behind, with the timeout that was set here or through a store over this one."""
        if (timeout := _timeout(self)) != self._timeout:
            self._timeout = timeout
            self._store.set_timeout(timeout)
        return self._store

    def clone(self) -> dist.Store:
        return self


def _timeout(store: Any) -> datetime.timedelta:  # torch's stubs do not know it
    timeout: datetime.timedelta = store.timeout
    return timeout


def _slowly(name: str):
    def operation(self, *args, **kwargs):
        time.sleep(self._seconds / 2)
        try:
            return getattr(self.slowed(), name)(*args, **kwargs)
        finally:
            time.sleep(self._seconds / 2)

    return operation


_OPERATIONS = (
    "add", "append", "check", "compare_set", "delete_key", "get", "list_keys", "multi_get",
    "multi_set", "num_keys", "queue_len", "queue_pop", "queue_push", "set", "wait",
)  # fmt: skip
#: the names by which torch's C++ calls them, when another store is put over this one
_INNER = {
    "deleteKey": "delete_key",
    "getNumKeys": "num_keys",
    "compareSet": "compare_set",
    "multiGet": "multi_get",
    "multiSet": "multi_set",
}
for _name in _OPERATIONS:
    setattr(SlowStore, _name, _slowly(_name))
for _inner, _name in _INNER.items():
    setattr(SlowStore, _inner, getattr(SlowStore, _name))
for _name in ("has_extended_api", "hasExtendedApi"):
    setattr(SlowStore, _name, lambda self: True)
