"""What a student who asks is told, and where the request goes."""

import errno
import json

import pytest

from distlab import cli
from distlab.cli import ask

LAB = "01-message-passing"


@pytest.fixture
def exchange(tmp_path, monkeypatch):
    """An exchange of nbgrader's with one course."""
    (tmp_path / "distlab" / "inbound").mkdir(parents=True)
    monkeypatch.setattr(ask, "_nbgrader", lambda: ({}, object, (tmp_path, "")))
    return tmp_path


def sent(exchange, course="distlab"):
    return [json.loads(path.read_bytes()) for path in (exchange / course / "inbound").iterdir()]


def test_a_request_lies_beside_the_submissions(exchange, capsys):
    assert cli.main(["ask", LAB, "relay", "Rank", "2", "is right."]) == 0
    assert sent(exchange) == [{"lab": LAB, "exercise": "relay", "said": "Rank 2 is right."}]
    assert "handed over" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([LAB, "rellay", "x"], "did you mean relay?"),
        ([LAB, "nothing at all", "x"], ": there are run_blocking,"),
        ([LAB, "test_relay", "x"], "no exercise 'test_relay'"),
        (["01-mesage-passing", "relay", "x"], f"did you mean {LAB}?"),
        ([LAB, "relay", " "], "say in a sentence"),
        ([LAB, "relay", "…"], "say in a sentence"),
        ([LAB, "relay", "x" * 501], "at most 500"),
        ([LAB, "rel\x1b[31may", "x"], "no exercise"),
        ([LAB, "relay", "x", "--course", "../distlab"], "no path"),
        ([LAB, "relay", "x", "--course", ".."], "no path"),
        ([LAB, "relay", "x", "--course", "other"], "no course takes requests"),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_line(exchange, capsys, words, said):
    assert cli.main(["ask", *words]) == 2
    out, error = capsys.readouterr()
    assert not out and error.count("\n") == 1 and said in error and "\x1b" not in error
    assert not sent(exchange)


def test_a_request_that_cannot_be_written_leaves_nothing(exchange, capsys, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ask.os, "rename", full)
    assert cli.main(["ask", LAB, "relay", "x"]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert not list((exchange / "distlab" / "inbound").iterdir())


def test_of_several_courses_one_is_named(exchange, capsys):
    (exchange / "other" / "inbound").mkdir(parents=True)
    assert cli.main(["ask", LAB, "relay", "x"]) == 2
    assert "which course? Say --course with one of distlab, other" in capsys.readouterr().err
    assert cli.main(["ask", LAB, "relay", "x", "--course", "other"]) == 0
    assert len(sent(exchange, "other")) == 1 and not sent(exchange)


def test_without_an_exchange_that_is_said(exchange, capsys, monkeypatch):
    monkeypatch.setattr(ask, "_nbgrader", lambda: ({}, object, (exchange / "none", "")))
    assert cli.main(["ask", LAB, "relay", "x"]) == 2
    assert "no course takes requests" in capsys.readouterr().err


def test_without_nbgrader_that_is_said(monkeypatch, capsys):
    def missing():
        raise ImportError

    monkeypatch.setattr(ask, "_nbgrader", missing)
    assert cli.main(["ask", LAB, "relay", "x"]) == 2
    assert "nbgrader is not installed" in capsys.readouterr().err


def test_an_exchange_that_is_no_folder_brings_its_own_way(monkeypatch):
    handed = []

    class Submit:
        @classmethod
        def second_looks(cls, config, course):
            handed.append((config, course))
            return cls()

        def hand_over(self, content):
            handed.append(content)

    monkeypatch.setattr(ask, "_nbgrader", lambda: ("config", Submit, None))
    assert cli.main(["ask", LAB, "relay", "x", "--course", "c"]) == 0
    assert handed[0] == ("config", "c") and b"relay" in handed[1]
