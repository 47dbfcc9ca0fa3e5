"""Mixed programs under every schedule: nothing is said of right ones, of wrong ones their lines."""

import cloudpickle
import pytest
from programs import mixed

from distlab import Ranks
from distlab.records.lint import remarks

cloudpickle.register_pickle_by_value(mixed)


def said(program):
    """What is said of a program, in all of its schedules."""
    found = Ranks(program.size, deadline=15).run(
        program.run, strict=True, schedules="all", may_fail=True
    )
    every = (
        [found.story()] if not found.ok or len(set(map(repr, found.schedules.values()))) > 1 else []
    )
    return every + [remark.sentence for remark in remarks(found.records) if found.ok]


@pytest.mark.parametrize("program", mixed.RIGHT, ids=lambda program: program.name)
def test_nothing_is_said_of_a_right_program(program):
    assert said(program) == []


@pytest.mark.parametrize("program", mixed.WRONG, ids=lambda program: program.name)
def test_a_wrong_program_is_told_with_its_lines(program):
    told = "\n".join(said(program))
    assert program.says in told
    assert all(place in told for place in program.places), told
