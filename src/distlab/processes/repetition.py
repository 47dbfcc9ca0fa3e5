"""Large arrays that are blocks again and again: made once, and shared by all who ask for the same.

A class's right answers return the same large tensors, which come as a block and how often it is
repeated (`distlab.processes.payload`). Writing them out anew takes time mostly because their memory
is new to the process. What is shared cannot be written to, and as it is found by its content alone
it cannot be anything else than what was asked for.
"""

from __future__ import annotations

import hashlib
import math
import random
import threading
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

LEAST = 1 << 20  # bytes of an array that is worth being kept


class Kept:
    """Values of at most `limit` bytes together, each by a key that says all that it depends on; for
    all threads.
    """

    def __init__(self, limit: int = 0) -> None:
        self.limit = limit
        self._values: dict[Hashable, tuple[Any, int]] = {}
        self._bytes = 0
        self._lock = threading.Lock()
        # a class asks for the same things in the same order: whatever was asked for longest ago is
        # what is asked for next, so that chance is the better choice of what goes
        self._chance = random.Random(0)

    def get(self, key: Hashable) -> Any:
        """A value, or `None`."""
        with self._lock:
            value, _ = self._values.get(key, (None, 0))
            return value

    def put(self, key: Hashable, value: Any, nbytes: int) -> None:
        if nbytes > self.limit:
            return
        with self._lock:
            if key in self._values:
                return
            while self._bytes + nbytes > self.limit:
                _, size = self._values.pop(self._chance.choice(list(self._values)))
                self._bytes -= size
            self._values[key] = value, nbytes
            self._bytes += nbytes


#: of this process. Nothing is kept unless it says so: students' own processes have other uses for
#: their memory than a second look at the same output.
kept = Kept()


def lengthened(blocks: np.ndarray, times: Sequence[int], shape: Sequence[int]) -> np.ndarray:
    """Each row of `blocks` so many times, as an array of this shape that cannot be written to.

    Raises:
        ValueError: these are not the elements of such an array.
    """
    # not by the shape: it may be a hostile rank's, of factors without number
    if blocks[0].nbytes * sum(times) < LEAST or kept.limit == 0:
        return _made(blocks, times, shape)
    told = repr((blocks.dtype.str, blocks.shape, list(times), list(shape))).encode()
    key = hashlib.sha256(told + np.ascontiguousarray(blocks).tobytes()).digest()
    found: np.ndarray | None = kept.get(key)
    if found is None:
        found = _made(blocks, times, shape)
        kept.put(key, found, found.nbytes)
    return found


def _made(blocks: np.ndarray, times: Sequence[int], shape: Sequence[int]) -> np.ndarray:
    made = np.repeat(blocks, times, axis=0).reshape(shape)
    made.flags.writeable = False
    return made


def resized(block: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """A one-dimensional block again and again until the shape is full; it cannot be written to."""
    whole, rest = divmod(math.prod(shape), block.size)
    if not rest:
        return lengthened(block.reshape(1, -1), [whole], shape)
    made = np.resize(block, tuple(shape))
    made.flags.writeable = False
    return made
