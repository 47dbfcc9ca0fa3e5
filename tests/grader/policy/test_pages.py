"""Feedback pages follow the policy."""

import contextlib

import pytest

from grader import coursedir
from grader.judging.ledger import Ledger
from grader.plugins.gradebook import GradebookBusy
from grader.policy import pages
from grader.policy.policy import Policy

LAB = "01-message-passing"


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
    found = pages.Pages(Book(), ledger).refresh("ada")
    assert found == (0, ["the gradebook cannot be used now (database is locked)"])
    assert issubclass(GradebookBusy, coursedir.GradingFailed)
