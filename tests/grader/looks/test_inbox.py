"""Requests that arrive in the exchange: whose they are the kernel says, whatever they say."""

import json
import os
import pwd
from types import SimpleNamespace

import pytest
from served import COURSE, Hub, Service

from distlab import course
from distlab.checking.second_look import LARGEST, LONGEST, PREFIX, Mistaken, parsed, request
from distlab.cli.ask import ExchangeFolder
from distlab.exchange.client import Client
from grader.coursedir import GradingFailed
from grader.looks import commands, diary, inbox
from grader.looks.diary import MOST, MOST_ASKED, Diary
from grader.looks.inbox import ExchangeInbox, ServiceInbox, take_in

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
        kept = Diary(tmp_path / "looks.jsonl")
        said = take_in(ExchangeInbox(inbound), kept, graded)
        return [(one.student, one.exercise, one.asked[-1].said) for one in kept.read().open()], said

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


def test_a_request_stays_in_the_inbox_while_the_diary_takes_no_more(inbound, taken, monkeypatch):
    path = put(inbound, GOOD)
    with monkeypatch.context() as patched:
        patched.setattr(diary, "LARGEST", 10)
        with pytest.raises(Mistaken, match="would have more than 10 bytes"):
            taken()
        patched.setattr(diary, "GRADES", inbound.parent)
        patched.setattr(commands.grade, "named_well", lambda student: True)
        patched.setattr(commands.Ledger, "latest", lambda *one: one)
        book = SimpleNamespace(
            exchange=SimpleNamespace(second_looks=lambda: ExchangeInbox(inbound))
        )
        (said,) = commands.collect(book)  # which stops nobody who grades
        assert "would have more than 10 bytes" in said and path.exists()
    assert taken() == ([(ME, "relay", "Look.")], []) and not path.exists()


def test_every_request_that_can_be_asked_can_be_read():
    wanted = request(LAB, "relay", "\u00fc\U0001f600" * (LONGEST // 2))
    assert parsed(wanted.content()) == wanted


@pytest.mark.slow
def test_requests_that_a_service_has_are_taken_once_and_are_whose_the_hub_says(tmp_path):
    pytest.importorskip("jupyterhub", reason="the Hub is not installed: pip install jupyterhub")
    diary = Diary(tmp_path / "looks.jsonl")

    def everybody(lab, student):
        return student != "cleo"

    with Hub() as hub, Service(hub, tmp_path / "exchange", ["--reserve=0"]) as service:
        arrived = ServiceInbox(lambda: service.client("grading"), COURSE)

        def ask(who, said, key="1" * 32):
            content = said if isinstance(said, str) else json.dumps(said)
            with service.client(who) as client:
                client.ask_second_look(COURSE, content, key)

        ask("ada", GOOD)
        ask("ben", {**GOOD, "student": "ada"})
        ask("ben", {**GOOD, "said": "Mine."}, "2" * 32)
        ask("cleo", GOOD)
        said = take_in(arrived, diary, everybody)
        found = [(one.student, one.asked[-1].said) for one in diary.read().open()]
        assert found == [("ada", "Look."), ("ben", "Mine.")]
        assert len(said) == 2 and "ben" in said[0] and "nothing of theirs was graded" in said[1]
        assert not list(arrived.found())

        ask("ada", GOOD)  # sent again, because the answer was lost; the grader has it already
        assert take_in(arrived, diary, everybody) == [] and not list(arrived.found())
        assert len(diary.read().look("ada", LAB, "relay").asked) == 1

        ask("ada", {**GOOD, "said": "Again."}, "3" * 32)
        others = iter(ServiceInbox(lambda: service.client("lecturer"), COURSE).found())
        with service.client("grading") as client:
            (one,) = client.second_looks(COURSE)
            client.take_second_look(COURSE, one["name"])  # before the other has read it
            client.take_second_look(COURSE, one["name"])
        assert list(others) == []


def test_a_service_that_goes_away_is_asked_once_and_loses_no_request(tmp_path):
    diary, opened = Diary(tmp_path / "looks.jsonl"), []

    class Going(Client):
        def __init__(self):
            super().__init__("http://127.0.0.1:9/services/exchange", "token", patience=0.0)
            opened.append(self)

        def second_looks(self, course):
            when = "2026-11-02 10:00:00.000000 UTC"
            names = [f"{who}+{when}+{'1' * 32}" for who in ("ada", "ben")]
            return [{"name": n, "student": n.split("+")[0], "when": when} for n in names]

        def second_look(self, course, name):
            return json.dumps(GOOD)

    arrived = ServiceInbox(Going, COURSE)
    assert take_in(arrived, diary, lambda lab, student: True) == []
    assert len(opened) == 2  # to find them, and for the first that cannot be taken away
    assert take_in(ServiceInbox(Going, COURSE), diary, lambda lab, student: True) == []
    assert [(one.student, len(one.asked)) for one in diary.read().open()] == [
        ("ada", 1),
        ("ben", 1),
    ]
    assert diary.read().look("ada", LAB, "relay").asked[0].when.hour == 10


class Away(Client):
    def __init__(self):
        super().__init__("http://127.0.0.1:9/services/exchange", "token", patience=0.0)


def test_an_exchange_that_does_not_answer_is_said_and_keeps_nobody_from_grading(
    tmp_path, monkeypatch
):
    away = ServiceInbox(Away, COURSE)
    with pytest.raises(GradingFailed, match="second looks are not seen: .*does not answer"):
        list(away.found())
    monkeypatch.setattr(commands, "Ledger", lambda folder: None)
    monkeypatch.setattr(commands, "Diary", lambda: Diary(tmp_path / "looks.jsonl"))
    book = SimpleNamespace(exchange=SimpleNamespace(second_looks=lambda: away))
    (said,) = commands.collect(book)
    assert "does not answer" in said
