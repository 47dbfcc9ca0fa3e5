"""Requests that arrive in the exchange: whose they are the kernel says, whatever they say."""

import json
import os
import pwd
from types import SimpleNamespace

import pytest

from distlab import course
from distlab.checking.second_look import LARGEST, LONGEST, PREFIX, Mistaken, parsed, request
from distlab.cli.ask import ExchangeFolder
from grader.looks import inbox
from grader.looks.diary import MOST, MOST_ASKED, Diary
from grader.looks.inbox import ExchangeInbox, take_in

LAB = "01-message-passing"
ME = pwd.getpwuid(os.getuid()).pw_name
GOOD = {"lab": LAB, "exercise": "relay", "said": "Look."}


@pytest.fixture
def inbound(tmp_path):
    (tmp_path / "inbound").mkdir()
    return tmp_path / "inbound"


@pytest.fixture
def taken(tmp_path, inbound):
    """`taken()`: what is open now, and what is said of the requests that are left out."""

    def take(graded=lambda lab, student: True):
        diary = Diary(tmp_path / "looks.jsonl")
        said = take_in(ExchangeInbox(inbound), diary, graded)
        return [
            (one.student, one.exercise, one.asked[-1].said) for one in diary.read().open()
        ], said

    return take


def put(inbound, content, name="x"):
    path = inbound / f"{PREFIX}{name}.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def test_a_request_goes_over_and_is_taken_once(inbound, taken):
    ExchangeFolder(inbound).hand_over(request(LAB, "relay", "Look \n here.").content())
    (path,) = inbound.iterdir()
    content = path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o644
    assert taken() == ([(ME, "relay", "Look here.")], [])
    assert not any(inbound.iterdir())
    path.write_bytes(content)  # it could not be taken away, say
    assert taken() == ([(ME, "relay", "Look here.")], [])


def test_asking_again_replaces_what_was_said_and_is_bounded(inbound, taken, tmp_path):
    for number in range(MOST):
        put(inbound, {**GOOD, "said": f"Look {number}."}, f"a{number}")
        assert taken() == ([(ME, "relay", f"Look {number}.")], [])
    put(inbound, GOOD, "more")
    found, said = taken()
    assert len(found) == 1 and f"{MOST} times already" in said[0]


def test_all_that_a_student_asks_is_bounded(inbound, taken, monkeypatch):
    monkeypatch.setattr(inbox, "MOST_ASKED", 3)
    names = [(lab, name) for lab in course.LABS for name in course.exercises(lab)][:5]
    assert MOST * sum(len(course.exercises(lab)) for lab in course.LABS) > MOST_ASKED
    for number, (lab, name) in enumerate(names):
        put(inbound, {"lab": lab, "exercise": name, "said": "Look."}, str(number))
    found, said = taken()
    assert len(found) == 3 and len(said) == 2 and "3 times already" in said[0]


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\xff\xfe", b"{", b"[" * 3900, b"[]", b"null", b"3" * 3000, b"x" * (LARGEST + 1),
        {**GOOD, "student": "ada"}, {**GOOD, "said": ["x"]}, {**GOOD, "said": " \n "},
        {**GOOD, "said": "x" * (LONGEST + 1)}, {**GOOD, "lab": "../../etc"}, {**GOOD, "lab": ""},
        {**GOOD, "exercise": "test_relay"}, {**GOOD, "exercise": "speaking_first"},
        {"lab": LAB, "exercise": "relay"}, {**GOOD, "exercise": None},
    ],
)  # fmt: skip
def test_what_is_no_request_is_left_out_in_one_line_and_taken_away(inbound, taken, content):
    put(inbound, content)
    found, (said,) = taken()
    assert not found and f"A request of {ME}'s is left out: " in said and "\n" not in said
    assert len(said) < 1000 and not any(inbound.iterdir())


def test_a_sentence_does_nothing_to_terminals_and_pages(inbound, taken):
    put(inbound, {**GOOD, "said": "a\x1b[31m\u202eb\r\nc\x00"})
    ((_, _, said),), _ = taken()
    assert said.isprintable() and "\\x1b" in said and "\\u202e" in said


def test_only_of_what_was_graded(inbound, taken):
    put(inbound, GOOD)
    found, (said,) = taken(lambda lab, student: (lab, student) == (LAB, "ada"))
    assert not found and f"nothing of theirs was graded in {LAB}" in said


def test_whose_it_is_the_kernel_says(inbound, taken, monkeypatch):
    names = {os.getuid(): "eve"}
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: SimpleNamespace(pw_name=names[uid]))
    put(inbound, GOOD, "ada")
    assert taken()[0] == [("eve", "relay", "Look.")]
    names.clear()  # an account that is gone
    put(inbound, GOOD, "gone")
    assert taken() == ([("eve", "relay", "Look.")], [])


def test_what_is_no_plain_file_of_one_name_is_passed_over(inbound, taken, tmp_path):
    other = tmp_path / "other"
    other.write_text(json.dumps(GOOD))
    (inbound / f"{PREFIX}link.json").symlink_to(other)
    os.link(other, inbound / f"{PREFIX}hard.json")
    os.mkfifo(inbound / f"{PREFIX}pipe.json")
    (inbound / f"{PREFIX}folder.json").mkdir()
    (inbound / f"ada+{LAB}+2026-11-01 10:00:00 UTC+x").mkdir()  # a submission
    assert taken() == ([], [])


def test_whoever_writes_thousands_stands_in_nobodys_way(inbound, taken, monkeypatch):
    monkeypatch.setattr(inbox, "MOST_FILES", 3)
    for number in range(10):
        put(inbound, b"", f"{number}")
    assert len(taken()[1]) == 3


def test_without_an_exchange_there_is_nothing(tmp_path):
    assert not list(ExchangeInbox(tmp_path / "none").found())


def test_a_request_that_cannot_be_written_is_said(tmp_path):
    with pytest.raises(Mistaken, match="tell your instructor"):
        ExchangeFolder(tmp_path / "none").hand_over(b"")


def test_every_request_that_can_be_asked_can_be_read():
    wanted = request(LAB, "relay", "\u00fc\U0001f600" * (LONGEST // 2))
    assert parsed(wanted.content()) == wanted
