"""Programs that were written to mislead: nothing is said of right ones, and of wrong ones why."""

import cloudpickle
import pytest
from programs import unfriendly

from distlab import Ranks
from distlab.engines import watching
from distlab.records import deadlock
from distlab.records.deadlock import remarks

cloudpickle.register_pickle_by_value(unfriendly)
RIGHT = [p for p in unfriendly.PROGRAMS if not p.says]
WRONG = [p for p in unfriendly.PROGRAMS if p.says]


@pytest.mark.parametrize("program", RIGHT, ids=lambda p: p.name)
def test_nothing_is_said_of_a_right_program(program, ranks):
    found = Ranks(program.size, deadline=30).run(program.run, schedules="all", strict=True)
    assert len({tuple(map(repr, result)) for result in found.schedules.values()}) == 1
    assert [str(r) for result in found.schedules.values() for r in remarks(result.records)] == []


@pytest.mark.parametrize("program", WRONG, ids=lambda p: p.name)
def test_the_message_says_what_went_wrong(program, ranks, monkeypatch):
    monkeypatch.setattr(deadlock, "SETTLE", 20.0)  # ends once all ranks stand
    if any("had died" in text for text in program.says):
        # until gloo has told who waited for the dead rank, that one is told to wait still
        monkeypatch.setattr(watching, "POLL", 1.0)
    result = Ranks(program.size, deadline=30).run(program.run, strict=True, may_fail=True)
    told = "\n".join([result.story(), *map(str, remarks(result.records))])
    assert [text for text in program.says if text not in told] == [], told
