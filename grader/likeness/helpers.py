"""What of the cells that a student has added belongs to which exercise: a copy in a cell of its
own, which the answer calls, is compared with answers all the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from grader.likeness.tokens import MOST_CHARACTERS, python

#: in place of an exercise's name: what a student has added and no answer uses
OWN = "cells of their own"
NO_PYTHON = "cells of their own that are no Python"  # else one of them hides all others' names
MOST_ROUNDS = 5  # helpers that are called by helpers
_DEFINED = re.compile(
    r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|^(\w+)[ \t]*=[^=\n]{0,200}\blambda\b", re.M
)
_WORD = re.compile(r"[^\W\d]\w*")


def placed(answers: Mapping[str, str], added: Sequence[str], most: int) -> dict[str, str]:
    """The sources that are compared, by exercise, `OWN` and `NO_PYTHON`: an added cell stands
    behind the first answer that uses what it defines, or has the name of it.

    Args:
        answers: the sources of the solution cells, by exercise.
        most: characters of the added cells that are looked at; of the rest it is told that it is
            not compared.
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
