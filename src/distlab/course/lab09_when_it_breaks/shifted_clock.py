"""Give this process another clock, as if it ran on another machine.

All that Python code can ask for the time is shifted by a constant. Differences between two times
stay the same, and nothing that only waits is changed.
"""

from __future__ import annotations

import contextlib
import datetime
import time
from collections.abc import Callable
from typing import Any

_SECONDS = ("time", "monotonic", "perf_counter")


def install(seconds: float, function: Callable[..., Any]) -> Callable[..., Any]:
    """Shift the clocks of this process by `seconds`, for good.

    Returns a copy of `function` for which clocks that it imported by name (`from time import
    monotonic`) are shifted too.
    """
    import cloudpickle

    from distlab.engines import by_value

    sent = b""
    with contextlib.suppress(Exception):  # what cannot be sent keeps the names that it has
        sent = by_value.dumps(function)
    for name in _SECONDS:
        setattr(time, name, _later(getattr(time, name), seconds))
        exact = f"{name}_ns"
        setattr(time, exact, _later(getattr(time, exact), int(seconds * 1e9)))
    datetime.datetime = _Later.by(seconds)
    return cloudpickle.loads(sent) if sent else function


def _later(clock: Callable[[], Any], by: Any) -> Callable[[], Any]:
    def shown() -> Any:
        return clock() + by

    return shown


class _Later(datetime.datetime):
    """`datetime.datetime` with a shifted `now`."""

    _by = datetime.timedelta()

    @classmethod
    def by(cls, seconds: float) -> type[datetime.datetime]:
        return type("datetime", (cls,), {"_by": datetime.timedelta(seconds=seconds)})

    @classmethod
    def now(cls, tz=None):
        return super().now(tz) + cls._by

    @classmethod
    def utcnow(cls):
        return super().now(datetime.timezone.utc).replace(tzinfo=None) + cls._by
