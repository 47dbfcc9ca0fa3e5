"""Fingerprints of a cell: hashes of its runs of words, thinned out by winnowing.

Schleimer, Wilkerson, Aiken: Winnowing: Local Algorithms for Document Fingerprinting (SIGMOD 2003).
What two cells share is always found from `RUN + WINDOW - 1` words on, and never below `RUN`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from grader.likeness.tokens import Token, tokens

RUN, WINDOW = 6, 3
#: fingerprint → the first and the last line of each place where it stands
Prints = dict[int, list[tuple[int, int]]]


def fingerprints(sources: Mapping[str, str]) -> dict[str, Prints]:
    """The fingerprints of each of a submission's cells, by the cells' names."""
    return {name: _of(words) for name, words in tokens(sources).items()}


def _of(words: Sequence[Token]) -> Prints:
    hashes = [_hash(words[at : at + RUN]) for at in range(len(words) - RUN + 1)]
    found: Prints = {}
    for at in winnowed(hashes):
        lines = words[at].line, words[at + RUN - 1].line
        found.setdefault(hashes[at], []).append(lines)
    return found


def winnowed(hashes: Sequence[int]) -> list[int]:
    """The place of each window's smallest hash, the rightmost of equal ones."""
    chosen: list[int] = []
    for begin in range(max(1, len(hashes) - WINDOW + 1) if hashes else 0):
        window = range(begin, min(begin + WINDOW, len(hashes)))
        at = min(window, key=lambda place: (hashes[place], -place))
        if chosen[-1:] != [at]:
            chosen.append(at)
    return chosen


def _hash(words: Sequence[Token]) -> int:
    """The same in every process, unlike Python's own hash of a text."""
    text = " ".join(token.word for token in words)
    return int.from_bytes(
        hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big"
    )
