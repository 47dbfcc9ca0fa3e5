"""Feedback pages follow the policy."""

import contextlib
import types

import pytest

from grader import coursedir
from grader.judging.ledger import Ledger
from grader.looks.diary import Diary
from grader.plugins.gradebook import GradebookBusy
from grader.policy import pages
from grader.policy.rules import Policy
from grader.policy.standing import Standing

LAB, OTHER = "01-message-passing", "02-toy-model"


class Book:
    """A gradebook that somebody else writes."""

    @contextlib.contextmanager
    def database(self):
        raise GradebookBusy("the gradebook cannot be used now (database is locked)")
        yield


@pytest.mark.parametrize("in_force", [True, False])
def test_a_gradebook_that_is_locked_is_told_of_each_student_and_ends_nothing(
    tmp_path, monkeypatch, in_force
):
    """The verdicts of the class are there, and so are its report and its table."""
    monkeypatch.setattr(pages.policies, "current", lambda: Policy(in_force))
    ledger = Ledger(tmp_path)
    ledger.note_page(LAB, "ada", "what a policy made of it")
    kept = pages.Pages(Book(), ledger)
    found = kept.refresh("ada")
    assert found == (0, ["the gradebook cannot be used now (database is locked)"])
    assert (LAB, "ada") in kept.stale
    assert issubclass(GradebookBusy, coursedir.GradingFailed)


@pytest.mark.parametrize("in_force", [True, False])
def test_of_pages_that_cannot_be_written_each_is_stale_until_it_is(tmp_path, monkeypatch, in_force):
    class Open(Book):
        """A gradebook in which one lab's graded notebook is damaged."""

        damaged = {LAB}

        @contextlib.contextmanager
        def database(self):
            yield

        def write_feedback(self, lab, student):
            if lab in self.damaged:
                raise coursedir.GradingFailed(f"could not write feedback on {student}'s {lab}")

        def feedback(self, lab, student):
            return tmp_path

        def state(self, lab, student):
            return []

    (tmp_path / "page.html").touch()
    settled = Standing(types.SimpleNamespace(penalty=0), [])
    monkeypatch.setattr(pages.policies, "current", lambda: Policy(in_force))
    monkeypatch.setattr(pages, "standings", lambda *_: dict.fromkeys((LAB, OTHER), settled))
    monkeypatch.setattr(pages, "settle", lambda *_: {})
    monkeypatch.setattr(pages, "Diary", lambda: Diary(tmp_path / "looks.jsonl"))
    ledger = Ledger(tmp_path)
    for lab in (LAB, OTHER):
        ledger.note_page(lab, "ada", "what another policy made of it")
    kept = pages.Pages(Open(), ledger)
    assert kept.refresh("ada") == (1, [f"could not write feedback on ada's {LAB}"])
    assert kept.stale == {(LAB, "ada")}
    Open.damaged = set()
    assert kept.refresh("ada") == (1, []) and not kept.stale
