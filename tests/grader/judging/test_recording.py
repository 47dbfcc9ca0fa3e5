"""Recording what the reference solutions give."""

import pytest

from grader.judging import record

LAB = "04-ring-allreduce"


def test_ranks_that_a_framework_was_set_up_in_end_where_a_solution_fails_too(monkeypatch):
    """The next lab is recorded by the same process, on new ones."""
    ended = []

    def failed(*_):
        raise record.SolutionFailed("the solution failed")

    monkeypatch.setattr(record.course, "needs", lambda lab: ("tensorflow",))
    monkeypatch.setattr(record.frameworks, "need", lambda *_, **__: None)
    monkeypatch.setattr(record.ranks, "end_local", lambda: ended.append(True))
    monkeypatch.setattr(record, "_run", failed)
    with pytest.raises(record.SolutionFailed):
        list(record.outputs(LAB, "ring_time"))
    assert ended == [True]
