"""When a submission that was judged is judged again, and whose judges a referee closes."""

from pathlib import Path

import pytest

from grader import coursedir, secret
from grader.judging import basis, referee
from grader.judging.ledger import Ledger

LAB = "01-message-passing"
COUNTS = [
    "grader/cases/lab01_message_passing/relay.py",
    "grader/cases/lab01_message_passing/sizes.py",
    "src/distlab/course/lab01_message_passing/relay.py",
    "src/distlab/exercises/judge.py",
    "solutions/01-message-passing/reference.json",
    "labs/01-message-passing/message_passing.ipynb",
]


@pytest.fixture
def digest():
    """The digest of the course as it is now, however often it is asked for."""

    def forget():
        basis.course_digest.cache_clear()
        basis._judging.cache_clear()

    def now():
        forget()
        return basis.course_digest(LAB, secret.current())

    yield now
    forget()


@pytest.mark.parametrize("changed", COUNTS)
def test_a_change_of_what_verdicts_depend_on_makes_them_stale(monkeypatch, digest, changed):
    path, before, read = coursedir.ROOT / changed, digest(), Path.read_bytes
    assert path.is_file() and digest() == before
    monkeypatch.setattr(Path, "read_bytes", lambda self: read(self) + b"#" * (self == path))
    assert digest() != before


def test_hidden_cases_of_another_lab_make_none_stale(monkeypatch, digest):
    path = coursedir.ROOT / "grader/cases/lab04_ring_allreduce/chunks.py"
    before, read = digest(), Path.read_bytes
    assert path.is_file()
    monkeypatch.setattr(Path, "read_bytes", lambda self: read(self) + b"#" * (self == path))
    assert digest() == before


@pytest.mark.parametrize("given", [True, False])
def test_a_referee_closes_judges_of_its_own_alone(given, monkeypatch, tmp_path):
    closed = []

    class Judges:
        def close(self):
            closed.append(self)

    monkeypatch.setattr(referee, "LocalJudges", lambda settings: Judges())
    with referee.Referee(Ledger(tmp_path), Judges() if given else None) as one:
        assert closed == []
    assert closed == ([] if given else [one.judges])
