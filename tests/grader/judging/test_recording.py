"""Recording what the reference solutions give."""

import pytest

from distlab import course
from grader import commands, coursedir
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


def test_an_exercise_that_is_named_is_verified_alone_and_what_differs_is_told(monkeypatch, capsys):
    exercise, asked = course.exercises(LAB)["ring_time"], []
    cases = coursedir.cases(exercise)

    def outputs(*which):
        asked.append(which)
        for number, case in enumerate(cases):
            values = coursedir.reference(exercise, case)
            yield exercise, case, [value * 2 if number == 1 else value for value in values]

    monkeypatch.setattr(record, "outputs", outputs)
    assert commands.reference("verify", [LAB, "ring_time"]) == 1
    said = capsys.readouterr().out
    assert asked == [(LAB, "ring_time")] and f"{LAB}: 1 differs\n" in said
    assert f"  {exercise.id} {cases[1].key}, rank 0: " in said
