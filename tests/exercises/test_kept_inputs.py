"""Inputs are drawn once where a process says so, and given out to each who asks as if they had been
drawn for them.
"""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest

from distlab.exercises import exercise as exercises
from distlab.exercises.exercise import BLOCK, LARGE, Case, Exercise
from distlab.processes.repetition import Kept


@pytest.fixture
def kept(monkeypatch):
    made = Kept(1 << 20)
    monkeypatch.setattr(exercises, "drawn", made)
    return made


class Draws:
    """An exercise's `make` that counts how often it is asked."""

    def __init__(self):
        self.count = 0

    def __call__(self, case):
        self.count += 1
        n = case.get("n", 4)
        return [
            {"tensor": case.draw(rank, [n]), "rows": [case.draw(rank, [2, 3], "int64")], "n": n,
             "pair": (1, {"lr": 0.5})}
            for rank in range(case.size)
        ]  # fmt: skip


def asked():
    return Exercise(points=1, make=Draws(), asks="", visible=(), name="one", lab="lab")


CASES = [Case(2), Case(3), Case(2, 1), Case(2, params={"n": 5}), Case(2, hidden=True),
         Case(2, hidden=True, entropy=b"a" * 16), Case(2, hidden=True, entropy=b"b" * 16),
         Case(2, params={"n": LARGE + 1}), Case(2, params={"n": 20 * BLOCK})]  # fmt: skip


def same(one, other):
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype and np.array_equal(one, other)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        same(list(one.values()), list(other.values()))
    elif isinstance(one, (list, tuple)):
        assert type(one) is type(other) and len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            same(left, right)
    else:
        assert one == other


def test_each_case_gets_the_inputs_that_are_drawn_for_it(kept):
    exercise = asked()
    first = [exercise.inputs(case) for case in CASES]
    again = [exercise.inputs(dataclasses.replace(case)) for case in CASES]
    assert exercise.make.count == len(CASES)
    same(first, again)
    kept.limit = 0
    same(first, [asked().inputs(case) for case in CASES])


def test_exercises_do_not_share_inputs(kept):
    one, other = asked(), asked()
    one.inputs(Case(2))
    other.inputs(Case(2))
    assert other.make.count == 1


def test_whoever_changes_inputs_changes_them_for_nobody_else(kept):
    exercise = asked()
    before = exercise.payloads(exercise.inputs(Case(2)))
    for _ in range(2):
        mine = exercise.inputs(Case(2))
        mine[0]["tensor"] += 1.0
        mine[0]["rows"][0][:] = 7
        mine[0]["rows"].append(None)
        mine[1]["pair"][1]["lr"] = 9.0
        mine.append(mine.pop(0))
    assert exercise.payloads(exercise.inputs(Case(2))) == before


def test_a_process_draws_anew_unless_it_says_otherwise(monkeypatch):
    new = "from distlab.exercises import exercise; print(exercise.drawn.limit)"
    told = subprocess.run([sys.executable, "-c", new], capture_output=True, text=True, check=True)
    assert told.stdout == "0\n"
    monkeypatch.setattr(exercises, "drawn", Kept())  # grading has said otherwise in this process
    exercise = asked()
    for _ in range(2):
        exercise.inputs(Case(2))
    assert exercise.make.count == 2


def test_of_a_view_nothing_is_kept_but_what_it_shows(kept):
    large = np.arange(LARGE, dtype="float32")
    parts = [{"tensor": large[:4]}, {"tensor": large[4:8]}]
    view = dataclasses.replace(asked(), make=lambda case: parts)
    view.inputs(Case(2))
    ((values, _),) = kept._values.values()
    assert all(rank["tensor"].base is None for rank in values)
