"""Calls a function that works on a list of chunks in place."""

from __future__ import annotations


def in_place(function, rank, size, chunks) -> tuple[list, str]:
    """Call it; returns the tensors that the list held before, and what became of the list."""
    before = list(chunks)
    function(rank, size, chunks)
    same = len(chunks) == size and all(a is b for a, b in zip(chunks, before, strict=True))
    return before, "as it was" if same else "changed"
