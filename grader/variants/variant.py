"""A student's variant of a lab: the cases with inputs of their own.

Hidden and visible inputs are drawn from two keys, which HMAC makes from the course's secret, the
student's name and the lab. So a student's visible inputs reveal nothing about the hidden ones, nor
about a classmate's.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import hmac
import importlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from distlab import course
from distlab.exercises.exercise import Case, Exercise
from grader import coursedir, secret
from grader.cases import UNCHANGED, Chance, Drawn, Own, Varied, same
from grader.policy import policy as policies


@dataclass(frozen=True)
class Variant:
    """One student's inputs of a lab. Names that differ at all are different students, as in the
    gradebook, the exchange and the roster: whoever could choose a name that counts as a classmate's
    would get the classmate's inputs.
    """

    lab: str
    student: str
    hidden: bytes = field(repr=False)
    visible: bytes = field(repr=False)

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that tell variants apart and reveal nothing about them."""
        return hashlib.sha256(b"fingerprint of a variant: " + self.hidden).hexdigest()[:16]


def variant(lab: str, student: str, of: secret.Secret | None = None) -> Variant:
    """A student's variant of a lab, by the secret in use or by another one."""
    used = of or secret.current()
    keys = (used.derive("variant", kind, student, lab) for kind in ("hidden", "visible"))
    return Variant(lab, student, *keys)


def in_force(lab: str) -> bool:
    """Does the policy give each student inputs of their own in this lab?"""
    return policies.current().lab(lab).variants


def of(lab: str, student: str) -> Variant | None:
    """A student's variant of a lab; `None` where all have the same inputs."""
    return variant(lab, student) if in_force(lab) else None


def cases(whose: Variant, exercise: Exercise) -> tuple[Case, ...]:
    """A student's cases of an exercise, the visible ones first; their number, sizes and order are
    the same for everybody.
    """
    return (*visible(whose, exercise), *hidden(whose, exercise))


def hidden(whose: Variant, exercise: Exercise) -> tuple[Case, ...]:
    """A student's hidden cases of an exercise."""
    listed = _listed(exercise.lab).get(exercise.name, ())
    return tuple(_hidden(case, _entropy(whose.hidden, exercise.name)) for case in listed)


def visible(whose: Variant, exercise: Exercise) -> tuple[Case, ...]:
    """A student's visible cases of an exercise."""
    owns = _visible(exercise.lab, exercise.name) or (same,) * len(exercise.visible)
    entropy = _entropy(whose.visible, exercise.name)
    return tuple(
        case if own is UNCHANGED else _own(case, own, entropy(case.key))
        for case, own in zip(exercise.visible, owns, strict=True)
    )


@functools.cache
def _listed(lab: str) -> dict[str, Any]:
    return dict(coursedir.listed(lab))


@functools.cache
def _visible(lab: str, exercise: str) -> tuple[Own | None, ...] | None:
    """`VISIBLE` of the module with the hidden cases, if it has one."""
    if exercise not in _listed(lab):
        return None
    name = f"grader.cases.{course.package(lab)}.{exercise}"
    found: tuple[Own | None, ...] | None = getattr(importlib.import_module(name), "VISIBLE", None)
    return found


def _entropy(key: bytes, exercise: str) -> Callable[[str], bytes]:
    """A function from the name of a case to 128 bits."""
    return lambda case: hmac.digest(key, json.dumps([exercise, case]).encode(), "sha256")[:16]


def _hidden(case: Case | Drawn | Varied, entropy: Callable[[str], bytes]) -> Case:
    own, case = (case.own, case.case) if isinstance(case, Varied) else (same, case)
    if isinstance(case, Drawn):
        made = case.made(entropy)
    else:
        made = dataclasses.replace(case, hidden=True, entropy=entropy(case.key))
    return _own(made, own, made.entropy)


def _own(case: Case, own: Own, entropy: bytes) -> Case:
    """A case with a student's random numbers and parameters."""
    made = dataclasses.replace(case, entropy=entropy)
    chance = Chance(made.generator(stream=-2))
    return dataclasses.replace(made, params=dict(own(chance, case.params)))
