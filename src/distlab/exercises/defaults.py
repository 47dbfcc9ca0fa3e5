"""The rules and hints that every exercise has without naming them."""

from __future__ import annotations

import dataclasses

from distlab.exercises import hints, traffic
from distlab.exercises.exercise import Exercise


def completed(asked: Exercise, lab: str, name: str) -> Exercise:
    """An exercise with the lab and the name that follow from its place, and with the rules and
    hints that all share. Its own rules come first, its own hints between `hints.FIRST` and the
    others; those on messages it gets only if it has `traffic`.
    """
    rules, own = asked.rules, asked.hints
    if asked.traffic is not None:
        rules = (*rules, *asked.traffic, *traffic.SOUND)
        own = (*own, *hints.MESSAGES)
    every = (*hints.FIRST, *own, *hints.LAST)
    return dataclasses.replace(asked, lab=lab, name=name, rules=rules, hints=every)
