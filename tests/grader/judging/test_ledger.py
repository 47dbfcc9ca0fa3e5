"""What the ledger keeps of a verdict."""

import logging

from recorded import event

from distlab.course import find
from distlab.engines.runs import Run
from distlab.exercises.exercise import Case
from distlab.exercises.judge import Verdict
from distlab.records.events import RUNNING, RankRecord
from distlab.viz import timeline
from grader.judging import ledger


def test_a_picture_that_cannot_be_drawn_costs_no_verdict(monkeypatch, caplog):
    records = [RankRecord(r, 2, RUNNING, events=[event(r, 0, "barrier", end=2.0)]) for r in (0, 1)]
    run = Run([], records, 1.0, 10.0)
    verdict = Verdict(find("01-message-passing/relay"), "wrong", run=run, case=Case(2, 1))
    assert "<svg" in ledger.line(verdict).picture

    def broken(records):
        raise ZeroDivisionError

    monkeypatch.setattr(timeline, "timeline", broken)
    with caplog.at_level(logging.ERROR):
        line = ledger.line(verdict)
    assert (line.name, line.status, line.picture) == ("relay", "wrong", "")
    assert "no picture of 01-message-passing/relay" in caplog.text
