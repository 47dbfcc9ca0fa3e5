"""What an exercise asks and hints at without saying so."""

from __future__ import annotations

import dataclasses

from distlab.exercises import hints, traffic
from distlab.exercises.exercise import Exercise


def completed(asked: Exercise, lab: str, name: str) -> Exercise:
    """An exercise with the lab and the name that its place gives it, and with the rules and hints
    that all share: its own come first, those on messages where it has something to say of traffic.
    """
    rules, own = asked.rules, asked.hints
    if asked.traffic is not None:
        rules = (*rules, *asked.traffic, *traffic.SOUND)
        own = (*own, *hints.MESSAGES)
    every = (*hints.FIRST, *own, *hints.LAST)
    return dataclasses.replace(asked, lab=lab, name=name, rules=rules, hints=every)
