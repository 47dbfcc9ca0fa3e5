"""Which exercise a cell that a student has added belongs to: so an answer that was copied into a
cell of its own, and is called from the answer's cell, is compared with answers all the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from grader.likeness.tokens import MOST_CHARACTERS, python

#: in place of an exercise's name: added cells that no answer uses
OWN = "cells of their own"
NO_PYTHON = "cells of their own that are no Python"  # among others it would hide their names
MOST_ROUNDS = 5  # helpers that are called by helpers
_DEFINED = re.compile(
    r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|^(\w+)[ \t]*=[^=\n]{0,200}\blambda\b", re.M
)
_WORD = re.compile(r"[^\W\d]\w*")


def placed(answers: Mapping[str, str], added: Sequence[str], most: int) -> dict[str, str]:
    """The sources that are compared, by exercise, `OWN` and `NO_PYTHON`: an added cell is appended
    to the first answer that uses, or is to define, a name which the cell defines.

    Args:
        answers: the sources of the solution cells, by exercise.
        most: characters of the added cells that are parsed; the rest goes to `NO_PYTHON`.
    """
    found = {name: [source] for name, source in answers.items()}
    used = {name: {name, *_words(source)} for name, source in answers.items()}
    waiting: list[tuple[str, set[str]]] = []
    other: dict[str, list[str]] = {OWN: [], NO_PYTHON: []}
    for source in added:
        if most <= 0:
            other[NO_PYTHON].append(source)
            continue
        most -= min(len(source), MOST_CHARACTERS)
        text, tree = python(source) if len(source) <= MOST_CHARACTERS else (source, None)
        if tree is None:
            other[NO_PYTHON].append(source)
        else:
            waiting.append((text, {one or two for one, two in _DEFINED.findall(text)}))
    for _ in range(MOST_ROUNDS):
        left = []
        for text, defined in waiting:
            name = next((name for name, words in used.items() if words & defined), None)
            if name is None:
                left.append((text, defined))
            else:
                found[name].append(text)
                used[name] |= _words(text)
        waiting = left
    other[OWN] = [text for text, _ in waiting]
    found |= {name: some for name, some in other.items() if some}
    return {name: "\n\n".join(some) for name, some in found.items()}


def _words(source: str) -> set[str]:
    return set(_WORD.findall(source[:MOST_CHARACTERS]))
