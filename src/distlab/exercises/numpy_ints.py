"""NumPy's ints and bools, where a contract asks for a number and not for its type: they compare as
equal to Python's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def as_plain(value: Any, depth: int = 3) -> Any:
    """What a function returned, with NumPy's ints and bools in its lists, tuples and dicts as
    Python's own. No contract asks for what is nested deeper than `depth`, and a list may hold
    itself.
    """
    if isinstance(value, (np.integer, np.bool_)):
        return value.item()
    if depth == 0:
        return value
    if isinstance(value, list):
        return [as_plain(item, depth - 1) for item in value]
    if isinstance(value, tuple):
        return tuple(as_plain(item, depth - 1) for item in value)
    if isinstance(value, dict):
        return {key: as_plain(held, depth - 1) for key, held in value.items()}
    return value
