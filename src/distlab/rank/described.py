"""Exceptions of other processes, which come as data."""

from __future__ import annotations

from typing import Any


class Described(Exception):
    """Stands for an exception that `distlab.rank.exceptions.describe` has told where it arose."""

    def __init__(self, described: dict[str, Any]) -> None:
        super().__init__(f"{described['type']}: {described['message']}")
        self.described = described
