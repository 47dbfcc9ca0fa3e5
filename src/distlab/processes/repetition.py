"""Large arrays of repeated blocks: made once, then shared by all who need the same one.

A class's right answers return the same large tensors, each sent as a block and the number of its
repetitions (`distlab.processes.payload`). Writing such a tensor out takes time mostly because its
memory is new to the process. Shared arrays are read-only, and are found by a hash of their whole
content, so that nobody can be given another array than the one that was sent.
"""

from __future__ import annotations

import hashlib
import math
import random
import threading
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

LEAST = 1 << 20  # bytes from which on an array is worth keeping


class Kept:
    """A cache of at most `limit` bytes, safe to use from several threads. A value's key says all
    that the value depends on.
    """

    def __init__(self, limit: int = 0) -> None:
        self.limit = limit
        self._values: dict[Hashable, tuple[Any, int]] = {}
        self._bytes = 0
        self._lock = threading.Lock()
        # submissions ask for the same values in the same order, so that the one used longest ago is
        # the next to be asked for: dropping one at random is better than dropping that one
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


#: this process's cache. It keeps nothing until the process sets a limit: students' own processes
#: need their memory for other things than seeing the same output twice
kept = Kept()


def lengthened(blocks: np.ndarray, times: Sequence[int], shape: Sequence[int]) -> np.ndarray:
    """Row i of `blocks` repeated `times[i]` times, for each i, as a read-only array of this shape.

    Raises:
        ValueError: these are not the elements of such an array.
    """
    # not computed from the shape, which may come from a hostile rank and have endless factors
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
    """A one-dimensional block, repeated until it fills the shape, as a read-only array."""
    whole, rest = divmod(math.prod(shape), block.size)
    if not rest:
        return lengthened(block.reshape(1, -1), [whole], shape)
    made = np.resize(block, tuple(shape))
    made.flags.writeable = False
    return made
