"""NumPy's ints, which the contracts that ask for ranks do not rule out."""

from __future__ import annotations

from typing import Any

import numpy as np


def as_plain(value: Any) -> Any:
    """What a function returned, with the NumPy ints in its lists and tuples as Python's own."""
    if isinstance(value, list):
        return [as_plain(item) for item in value]
    if isinstance(value, tuple):
        return tuple(as_plain(item) for item in value)
    return int(value) if isinstance(value, np.integer) else value
