"""What the ledger keeps of a verdict."""

import logging

import pytest
from recorded import event

from distlab.course import find
from distlab.engines.outcomes import Run
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


@pytest.mark.parametrize(
    "content",
    ["", "{", "{}", "[]", "null", '{"lines": [1]}', '{"lines": []}', "[" * 100_000,
     '{"student": "ada", "assignment": "lab", "digest": "d", "lines": [], "of_another_year": 1}',
     '{"student": "ada", "assignment": "lab", "digest": "d", "lines": [{"total": 1}]}'],
)  # fmt: skip
def test_a_file_that_is_no_entry_is_as_if_it_were_not_there(tmp_path, content):
    """Damaged, or of another version: that submission is judged again, and the class goes on."""
    kept = ledger.Ledger(tmp_path)
    kept.put(other := ledger.Entry("ben", "lab", "own"))
    kept.path("lab", "ada").write_text(content)
    assert kept.latest("lab", "ada") is None and kept.get("lab", "ada", "d") is None
    assert list(kept.entries("lab")) == list(kept.counting("lab")) == [other]


def test_no_name_of_a_folder_is_too_long_to_be_looked_for(tmp_path):
    kept, name = ledger.Ledger(tmp_path), "x" * 255
    kept.put(ledger.Entry("ben", "lab", "own"))
    assert kept.latest("lab", name) is None and not kept.has_page("lab", name)
