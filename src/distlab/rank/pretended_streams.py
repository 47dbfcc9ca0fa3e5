"""Streams and events of GPUs that are not there: what is queued is done at once, on the CPU."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

_CUDA = 1  # the type of device, as torch numbers it


class _DoneAtOnce:
    """What streams and events can be asked: all of it is done."""

    def query(self) -> bool:
        return True

    def synchronize(self, *args: object) -> None:
        return None

    wait = wait_event = wait_stream = record = synchronize


class Event(_DoneAtOnce):
    """Stands in for `torch.cuda.Event` and `torch.Event`."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        return None

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds."""
        return 0.0


def replaced(
    need: Callable[[int], None], choose: Callable[[int], None]
) -> list[tuple[Any, str, Any]]:
    """(owner, name, value) of all that is replaced.

    Args:
        need: raises where there is no GPU of this number.
        choose: makes it the current one.
    """
    import torch

    numbers = itertools.count(1)  # 0 is each GPU's own first stream
    current: dict[int, tuple[int, int, int]] = {}  # by GPU

    class Stream(_DoneAtOnce):
        """Stands in for `torch.cuda.Stream` and `torch.Stream`."""

        def __init__(self, device: Any = None, priority: int = 0, **known: int) -> None:
            index = torch.cuda._utils._get_device_index(device, optional=True)
            self.stream_id = known["stream_id"] if "stream_id" in known else next(numbers)
            self.device_index = known.get("device_index", index or 0)  # None: no GPU
            need(self.device_index)
            self.device_type, self.priority = _CUDA, priority
            self.cuda_stream = self.stream_id
            self.device = torch.device("cuda", self.device_index)
            self._within: list[Any] = []  # where a block is entered in itself, one for each

        def record_event(self, event: Event | None = None) -> Event:
            return event or Event()

        def __enter__(self) -> Stream:
            self._within.append(torch.cuda.stream(self))  # type: ignore[arg-type]
            self._within[-1].__enter__()
            return self

        def __exit__(self, *raised: Any) -> None:
            self._within.pop().__exit__(*raised)

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Stream) and self._data() == other._data()

        def __hash__(self) -> int:
            return hash(self._data())

        def _data(self) -> tuple[int, int, int]:
            return self.stream_id, self.device_index, self.device_type

    def first(index: int) -> tuple[int, int, int]:
        return 0, index, _CUDA

    def chosen(index: int) -> tuple[int, int, int]:
        return current.get(index, first(index))

    def select(stream_id: int, device_index: int, device_type: int) -> None:
        choose(device_index)
        current[device_index] = stream_id, device_index, device_type

    return [
        *((owner, "Stream", Stream) for owner in (torch, torch.cuda, torch.cuda.streams)),
        *((owner, "Event", Event) for owner in (torch, torch.cuda, torch.cuda.streams)),
        (torch._C, "_accelerator_getStream", torch.cuda.current_stream),
        (torch._C, "_accelerator_setStream", torch.cuda.set_stream),
        (torch._C, "_cuda_getCurrentStream", chosen),
        (torch._C, "_cuda_getDefaultStream", first),
        (torch._C, "_cuda_setStream", select),
    ]
