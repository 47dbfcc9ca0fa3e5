"""What the ledger keeps of a verdict."""

import logging

from recorded import event

from distlab.course import find
from distlab.engines.runs import Run
from distlab.exercises.exercise import Case
from distlab.exercises.verdict import Verdict
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


def test_a_groups_entry_stands_before_the_students_own_which_is_kept(tmp_path):
    kept = ledger.Ledger(tmp_path)
    own, shared = ledger.Entry("ben", "lab", "own"), ledger.Entry("ben", "lab", "s", by="ada")
    kept.put(own)
    kept.put(shared)
    assert kept.latest("lab", "ben") == shared and kept.sharing("lab") == ["ben"]
    assert (kept.get("lab", "ben", "s"), kept.get("lab", "ben", "own")) == (shared, own)
    kept.put(own)
    assert kept.latest("lab", "ben") == own and kept.sharing("lab") == []
    kept.put(shared)
    kept.remove("lab", "ben")
    assert kept.latest("lab", "ben") is None
