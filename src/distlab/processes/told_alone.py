"""Exceptions that say all there is to say."""

from __future__ import annotations


class ToldAlone(Exception):
    """Notebooks show its sentence alone, without lines of this library that nobody has written."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]
