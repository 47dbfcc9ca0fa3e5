"""How often grading on submit judges, and how soon again."""

import concurrent.futures
import datetime
import logging
import tempfile
import types
from pathlib import Path

import pytest

from distlab.processes import disk_room
from grader import coursedir
from grader.judging import grade
from grader.judging.ledger import Entry
from grader.plugins import autograde_on_submit as on_submit
from grader.plugins.exchanges import SharedFolder
from grader.plugins.gradebook import Gradebook, NotCollected
from grader.policy import attempts as noting
from grader.policy.attempts import Attempts
from grader.policy.lateness import UTC, Duration
from grader.policy.roster import Roster
from grader.policy.rules import OnSubmit, Policy, PolicyError, Rules
from grader.writing import NotWritten

LAB = "01-message-passing"


AT_ONCE, HOUR = Duration(), Duration(0, 3600)


def policy(attempts=None, wait=AT_ONCE):
    return Policy(True, labs={LAB: Rules(on_submit=OnSubmit(attempts, wait))})


@pytest.fixture
def attempts(tmp_path):
    return Attempts(tmp_path)


def test_a_verdict_is_an_attempt_and_the_same_code_again_is_none(attempts):
    assert attempts.note(LAB, ["ada"], "ada", "one") and attempts.note(LAB, ["ada"], "ada", "two")
    assert not attempts.note(LAB, ["ada"], "ada", "one")
    assert attempts.left(OnSubmit(5), LAB, ["ada"]) == 3
    assert attempts.left(OnSubmit(1), LAB, ["ada"]) == 0
    assert attempts.left(OnSubmit(), LAB, ["ada"]) is None
    assert attempts.left(OnSubmit(5), "02-toy-model", ["ada"]) == 5


def test_a_submission_that_is_judged_once_more_is_no_other_attempt(attempts):
    assert attempts.note(LAB, ["ada"], "ada", "one", "2026-11-01 10:00:00.0 UTC")
    assert not attempts.note(LAB, ["ada"], "ada", "of-another", "2026-11-01 10:00:00.0 UTC")
    assert attempts.note(LAB, ["ada"], "ada", "two", "2026-11-01 10:00:00.1 UTC")
    assert attempts.note(LAB, ["ada"], "ada", "three", "") and len(attempts.of(LAB, ["ada"])) == 3


def test_what_was_not_judged_is_no_attempt(attempts):
    assert not attempts.note(LAB, ["ada"], "ada", "")
    assert attempts.left(OnSubmit(1), LAB, ["ada"]) == 1


def test_a_group_has_its_attempts_together(attempts):
    both = ["ada", "ben"]
    attempts.note(LAB, both, "ada", "one")
    attempts.note(LAB, both, "ben", "two")
    assert not attempts.note(LAB, both, "ben", "one")
    assert attempts.left(OnSubmit(5), LAB, both) == 3
    assert attempts.left(OnSubmit(5), LAB, ["ben"]) == 4


def test_attempts_at_the_same_time_are_all_counted(attempts):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: attempts.note(LAB, ["ada"], "ada", str(n)), range(40)))
    assert len(attempts.of(LAB, ["ada"])) == 40


@pytest.mark.parametrize("content", ["", "{", "[[1]]", '[["x", "y"]]', "[" * 100_000])
def test_a_damaged_file_costs_nobody_an_attempt(tmp_path, attempts, content):
    attempts.note(LAB, ["ada"], "ada", "one")
    (tmp_path / LAB / "ada.json").write_text(content)
    assert attempts.left(OnSubmit(1), LAB, ["ada"]) == 1


def test_who_comes_too_soon_waits_and_who_comes_too_often_is_left(attempts, capsys):
    queue = on_submit.Queue(attempts)
    attempts.note(LAB, ["ada"], "ada", "one")
    queue.add(LAB, ["ada", "ben"])
    assert queue.due(policy(wait=HOUR), Roster()) == {LAB: ["ben"]}
    assert queue.due(policy(wait=HOUR), Roster()) == {}
    assert queue.due(policy(), Roster()) == {LAB: ["ada"]}  # the policy lets her, now
    queue.add(LAB, ["ada"])
    assert queue.due(policy(attempts=1), Roster()) == {}
    assert "ada 01-message-passing: has no attempt left" in capsys.readouterr().out
    assert queue.due(policy(), Roster()) == {}


def test_a_clock_that_has_been_set_back_keeps_nobody_waiting(attempts, monkeypatch):
    """The machine had the year wrong for a night."""

    class NextYear(datetime.datetime):
        @classmethod
        def now(cls, zone):
            return super().now(zone) + datetime.timedelta(days=365)

    with monkeypatch.context() as patched:
        patched.setattr(noting.datetime, "datetime", NextYear)
        attempts.note(LAB, ["ada"], "ada", "one")
    queue = on_submit.Queue(attempts)
    queue.add(LAB, ["ada"])
    assert queue.due(policy(wait=HOUR), Roster()) == {LAB: ["ada"]}
    assert attempts.left(OnSubmit(5), LAB, ["ada"]) == 4  # it is an attempt all the same


def test_of_a_group_one_is_judged(attempts):
    queue = on_submit.Queue(attempts)
    queue.add(LAB, ["ada", "ben", "cy"])
    assert queue.due(policy(), Roster().group(LAB, ("ada", "ben"))) == {LAB: ["ada", "cy"]}


class Book:
    """A gradebook that notes what is asked of it."""

    def __init__(self):
        self.released = []

    def release_feedback(self, lab, student):
        self.released.append((lab, student))


@pytest.fixture
def judged(attempts, monkeypatch, tmp_path):
    """`judged(graded or an error)`: the queue and the book after ada's turn."""
    monkeypatch.setattr(
        on_submit, "RosterFile", lambda: type("R", (), {"read": lambda s: Roster()})()
    )

    def judge(outcome, problems=(), stale=()):
        pages = types.SimpleNamespace(refresh=lambda _: (1, list(problems)), stale=set(stale))
        monkeypatch.setattr(on_submit, "Pages", lambda *_: pages)

        def judged(*_):
            if isinstance(outcome, Exception):
                raise outcome
            return [outcome]

        monkeypatch.setattr(grade, "grade", judged)
        book, queue = Book(), on_submit.Queue(attempts)
        on_submit._take(book, None, queue, LAB, ["ada"])
        return book, queue

    return judge


def graded(problem="", digest="d"):
    return grade.Graded(Entry("ada", LAB, digest), None, 0.0, problem=problem)


@pytest.mark.parametrize("secret", ["ab" * 64, ""])
def test_a_verdict_on_submit_is_noted_and_released_where_it_can_be_fetched(
    judged, attempts, monkeypatch, tmp_path, capsys, secret
):
    """A student may take the secret out of a folder of their own: that is tried once, not all
    night.
    """
    folder = tmp_path / "ada" / LAB
    folder.mkdir(parents=True)
    (folder / "submission_secret.txt").write_text(secret)
    monkeypatch.setattr(grade, "SUBMITTED", tmp_path)
    book, queue = judged(graded())
    assert len(attempts.of(LAB, ["ada"])) == 1
    assert book.released == ([(LAB, "ada")] if secret else [])
    assert ("send the page yourself" in capsys.readouterr().out) is not bool(secret)
    assert not queue._failed and queue.due(policy(), Roster()) == {}


def test_a_page_that_could_not_be_written_is_not_released_as_it_was(judged, attempts, capsys):
    """It says how many attempts are left. The attempt itself is counted once."""
    book, queue = judged(graded(), ["nbgrader could not write feedback"], [(LAB, "ada")])
    assert not book.released and len(attempts.of(LAB, ["ada"])) == 1
    assert "nbgrader could not write feedback; tried again in 30 s" in capsys.readouterr().out
    assert queue._failed and not attempts.note(LAB, ["ada"], "ada", "d")


def test_the_page_of_the_last_attempt_is_tried_again_though_no_attempt_is_left(
    judged, attempts, monkeypatch, tmp_path, capsys
):
    """Nor need it wait as long as the next attempt would have to."""
    folder = tmp_path / "ada" / LAB
    folder.mkdir(parents=True)
    (folder / "timestamp.txt").write_text("2026-11-01 10:00:00.000000 UTC")
    monkeypatch.setattr(grade, "SUBMITTED", tmp_path)
    _, queue = judged(graded(), ["nbgrader could not write feedback"], [(LAB, "ada")])
    assert attempts.left(OnSubmit(1), LAB, ["ada"]) == 0
    later = on_submit.time.monotonic() + 31
    monkeypatch.setattr(on_submit.time, "monotonic", lambda: later)
    assert queue.due(policy(attempts=1, wait=HOUR), Roster()) == {LAB: ["ada"]}
    queue.add(LAB, ["ada"])  # the same: the disk was full, say
    assert queue.due(policy(attempts=1, wait=HOUR), Roster()) == {LAB: ["ada"]}
    (folder / "timestamp.txt").write_text("2026-11-01 10:00:01.000000 UTC")  # another one
    queue.add(LAB, ["ada"])
    assert queue.due(policy(attempts=1), Roster()) == {}
    assert "has no attempt left" in capsys.readouterr().out


def test_a_page_in_another_lab_that_cannot_be_written_keeps_none_of_this_one_back(
    judged, monkeypatch, tmp_path, capsys
):
    """What was graded last month is damaged: that is said, and nobody is judged all night."""
    monkeypatch.setattr(grade, "SUBMITTED", tmp_path)
    monkeypatch.setattr(on_submit.handed_in, "secret", lambda folder: "ab" * 64)
    said = "nbgrader could not write feedback on ada's 02-toy-model"
    booked = graded(said)
    booked.feedback = tmp_path
    book, queue = judged(booked, [said], [("02-toy-model", "ada")])
    assert book.released == [(LAB, "ada")] and not queue._failed
    assert f"ada: {said}\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    "outcome",
    [graded("its sandbox did not start"), coursedir.GradingFailed("nbgrader could not"),
     grade.NothingSubmitted("nothing"), OSError(28, "No space left on device"),
     RuntimeError("a mistake of the grader's own")],
)  # fmt: skip
def test_a_failure_of_the_graders_own_costs_no_attempt(judged, attempts, outcome, capsys):
    book, queue = judged(outcome)
    assert not book.released and not attempts.of(LAB, ["ada"])
    assert "ada 01-message-passing: " in capsys.readouterr().out
    assert queue.due(policy(attempts=1), Roster()) == {}


@pytest.mark.parametrize(
    "failure",
    [coursedir.GradingFailed("the gradebook cannot be used now"),
     OSError(28, "No space left on device", "/tmp/distlab-submitted-x"),
     RuntimeError("a mistake of the grader's own")],
)  # fmt: skip
def test_a_submission_that_could_not_be_booked_is_tried_again_ever_less_often(
    judged, attempts, monkeypatch, capsys, failure
):
    """The gradebook was locked, or /tmp full, for a minute: nobody has to hand in again."""
    now = 1000.0
    monkeypatch.setattr(on_submit.time, "monotonic", lambda: now)
    _, queue = judged(failure)
    assert "tried again in 30 s" in capsys.readouterr().out
    assert queue.due(policy(), Roster()) == {}
    for pause in (60, 120, 240):
        now += pause / 2
        assert queue.due(policy(), Roster()) == {LAB: ["ada"]}
        assert queue.later(LAB, "ada") == pause
    now += 239
    assert queue.due(policy(), Roster()) == {}
    queue.add(LAB, ["ada"])  # has handed in anew
    assert queue.due(policy(), Roster()) == {LAB: ["ada"]}
    assert queue.later(LAB, "ada") == 30
    for _ in range(9):
        longest = queue.later(LAB, "ada")
    assert longest == on_submit.LONGEST


def test_who_comes_while_the_policy_cannot_be_read_is_judged_afterwards(judged, attempts):
    _, queue = judged(PolicyError("policy.yaml, line 1"))
    assert not attempts.of(LAB, ["ada"])
    assert queue.due(policy(attempts=1), Roster()) == {LAB: ["ada"]}


def test_a_full_disk_ends_the_round_and_is_no_verdict_for_those_who_follow(judged, attempts):
    with pytest.raises(NotWritten):
        judged(NotWritten.full(Path("/srv/grades"), "the disk is full"))
    assert not attempts.of(LAB, ["ada"])


def test_what_cannot_be_collected_now_is_collected_later(attempts):
    """A disk that is full, or an exchange that is away: nobody has to hand in again."""
    queue, missed = on_submit.Queue(attempts), {LAB: {"ada"}, "02-toy-model": {"ben"}}
    failing = {LAB}

    def collect(lab):
        if lab in failing:
            raise NotWritten.full(Path("/srv"), "No space left on device")

    book = types.SimpleNamespace(collect=collect)
    assert "make room" in on_submit._collect(book, missed, queue) and missed == {LAB: {"ada"}}
    assert queue.due(policy(), Roster()) == {"02-toy-model": ["ben"]}
    failing.clear()
    assert on_submit._collect(book, missed, queue) == "" and not missed
    assert queue.due(policy(), Roster()) == {LAB: ["ada"]}


def test_one_who_cannot_be_collected_keeps_nobody_else_waiting(attempts):
    """A file of ada's is damaged in the exchange, and stays so."""
    queue, missed = on_submit.Queue(attempts), {LAB: {"ada", "ben", "cy"}}

    def collect(lab):
        raise NotCollected(["ada"])

    book = types.SimpleNamespace(collect=collect)
    assert "ada" in on_submit._collect(book, missed, queue) and missed == {LAB: {"ada"}}
    assert queue.due(policy(), Roster()) == {LAB: ["ben", "cy"]}


def test_nbgraders_collecting_says_for_whom_it_has_failed():
    class Collect:
        """Like that of an exchange's service."""

        failed, error = ["ada"], RuntimeError("not collected, see the log: ada")
        log = logging.getLogger(__name__)

        def __init__(self, coursedir, **_):
            assert coursedir.assignment_id == LAB

        def start(self):
            assert self.update
            if self.error is not None:
                raise self.error

    book = Gradebook.__new__(Gradebook)
    exchange = types.SimpleNamespace(Collect=Collect)
    folder = types.SimpleNamespace(assignment_id="")
    book._api = types.SimpleNamespace(exchange=exchange, coursedir=folder, authenticator=None)
    with pytest.raises(NotCollected) as failed:
        book.collect(LAB)
    assert failed.value.students == {"ada"} and folder.assignment_id == ""
    Collect.failed = []
    with pytest.raises(coursedir.GradingFailed, match="could not collect") as failed:
        book.collect(LAB)
    assert not isinstance(failed.value, NotCollected)
    Collect.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):  # which nbgrader keeps to itself
        book.collect(LAB)
    Collect.error = None
    book.collect(LAB)


@pytest.mark.parametrize(
    "log",
    ["sqlalchemy.exc.OperationalError: (sqlite3.OperationalError) database or disk is full",
     "OSError: [Errno 28] No space left on device: '/srv/grades/x'"],
)  # fmt: skip
def test_a_full_disk_within_nbgrader_is_told_apart_from_its_other_failures(log):
    with pytest.raises(NotWritten, match="make room there"):
        Gradebook._checked({"success": False, "log": log, "error": None}, "autograde it")
    with pytest.raises(coursedir.GradingFailed, match="nbgrader could not") as failed:
        Gradebook._checked({"success": False, "log": "ValueError: x", "error": None}, "autograde")
    assert not isinstance(failed.value, NotWritten)


def test_a_disk_that_is_full_is_named_by_the_file_that_found_no_room_there():
    log = "OSError: [Errno 28] No space left on device: '/srv/a' -> '/tmp/x/b'"
    with pytest.raises(NotWritten, match=r"^/tmp/x/b cannot be written \(the disk is full\)"):
        Gradebook._checked({"success": False, "log": log, "error": None}, "autograde it")


def test_a_disk_that_is_full_is_looked_for_where_no_file_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(disk_room, "full", lambda folder: "full" if folder == tmp_path else "")
    log = "OSError: [Errno 28] No space left on device"
    with pytest.raises(NotWritten, match=rf"^{tmp_path} cannot be written \(the disk is full\)"):
        Gradebook._checked({"success": False, "log": log, "error": None}, "autograde it")


def test_what_nbgrader_may_not_write_is_told_with_its_folder_and_what_to_do(tmp_path):
    log = "PermissionError: [Errno 13] Permission denied: 'reference.json'"
    with pytest.raises(coursedir.GradingFailed) as failed:
        Gradebook._checked({"success": False, "log": log, "error": None}, "write it", tmp_path)
    assert f"see that {tmp_path} is a folder, and that this account may" in str(failed.value)


def test_labs_are_released_when_their_time_has_come(tmp_path):
    now = datetime.datetime.now(UTC)
    rules = {
        LAB: Rules(release=now - datetime.timedelta(days=1)),
        "02-toy-model": Rules(release=now + datetime.timedelta(days=1)),
        "03-cifar10-ddp": Rules(),
        "04-ring-allreduce": Rules(release=now - datetime.timedelta(days=1)),
    }
    (tmp_path / "outbound" / "04-ring-allreduce").mkdir(parents=True)  # was released by hand
    released = []
    book = types.SimpleNamespace(exchange=SharedFolder(tmp_path), release=released.append)
    on_submit._release(book, Policy(True, labs=rules))
    assert released == [LAB]


def test_a_lab_that_cannot_be_released_keeps_no_other_one_back(tmp_path):
    past = datetime.datetime.now(UTC) - datetime.timedelta(days=1)
    rules = {name: Rules(release=past) for name in (LAB, "02-toy-model")}
    released = []

    def release(lab):
        if lab == LAB:
            raise coursedir.GradingFailed("nbgrader could not release it")
        released.append(lab)

    book = types.SimpleNamespace(exchange=SharedFolder(tmp_path), release=release)
    with pytest.raises(coursedir.GradingFailed, match="could not release it"):
        on_submit._release(book, Policy(True, labs=rules))
    assert released == ["02-toy-model"]


@pytest.mark.parametrize(("folder", "seconds"), [("exchange", 0.5), (None, 2.0)])
def test_a_folder_of_this_machine_is_looked_at_more_often_than_a_service_is_asked(folder, seconds):
    assert on_submit.between(type("Exchange", (), {"folder": folder})()) == seconds


def test_what_arrives_is_not_left_until_the_next_look_is_due(monkeypatch):
    now, glances = [0.0], []
    monkeypatch.setattr(on_submit.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(on_submit.time, "sleep", lambda pause: now.append(now.pop() + pause))

    def stirs():
        glances.append(now[0])
        return now[0] > 0.2

    on_submit._rest(types.SimpleNamespace(stirs=stirs), 0.5)
    assert 0.2 < now[0] <= 0.3 and len(glances) > 2
    on_submit._rest(types.SimpleNamespace(stirs=lambda: False), 0.5)
    assert now[0] == pytest.approx(glances[-1] + 0.5)


def test_a_night_goes_on_after_a_look_that_failed(monkeypatch, capsys):
    """A network file system was away when the exchange, then the folder of inputs, was read."""
    looks = [OSError(116, "Stale file handle"), {}, KeyboardInterrupt()]

    def next_of(told):
        if isinstance(found := told.pop(0), BaseException):
            raise found
        return found

    exchange = types.SimpleNamespace(folder="here", stirs=lambda: True)
    book = types.SimpleNamespace(exchange=exchange)
    monkeypatch.setattr(on_submit, "Gradebook", lambda _: book)
    monkeypatch.setattr(
        on_submit, "Arrivals", lambda _: types.SimpleNamespace(look=lambda: next_of(looks))
    )
    handed = [OSError(116, "Stale file handle"), ""]
    monkeypatch.setattr(
        on_submit, "HandingOut", lambda *_: types.SimpleNamespace(one=lambda: next_of(handed))
    )
    monkeypatch.setattr(on_submit, "_release", lambda *_: None)
    monkeypatch.setattr(on_submit.time, "sleep", lambda _: None)
    with pytest.raises(KeyboardInterrupt):
        on_submit.watch(None)
    assert not looks and not handed
    assert capsys.readouterr().out.count("Stale file handle") == 2


def test_a_course_that_has_changed_is_begun_anew_before_anything_more_is_judged(
    monkeypatch, capsys
):
    book = types.SimpleNamespace(exchange=types.SimpleNamespace(folder="here"))
    monkeypatch.setattr(on_submit, "Gradebook", lambda _: book)
    monkeypatch.setattr(
        on_submit, "Arrivals", lambda _: types.SimpleNamespace(look=lambda: {LAB: ["ada"]})
    )
    monkeypatch.setattr(on_submit, "HandingOut", lambda *_: None)
    monkeypatch.setattr(on_submit, "_release", lambda *_: None)
    monkeypatch.setattr(on_submit, "_collect", lambda book, missed, queue: queue.add(LAB, ["ada"]))
    monkeypatch.setattr(on_submit, "_take", lambda *_: pytest.fail("judged by the old course"))
    monkeypatch.setattr(on_submit.basis, "changed", lambda labs: LAB in labs)
    looks = ["half of it", *["all of it"] * 3, *["mended"] * 2]
    faults = ["SyntaxError: line 1", "SyntaxError: line 1", ""]
    monkeypatch.setattr(on_submit.basis, "on_disk", lambda labs: [looks.pop(0)])
    monkeypatch.setattr(on_submit.beginning, "fault", lambda: faults.pop(0))
    monkeypatch.setattr(on_submit.time, "sleep", lambda _: None)
    on_submit.watch(None)
    assert capsys.readouterr().out.count("can be imported (SyntaxError: line 1)") == 1
    assert not faults  # not before it can be imported
    assert not looks  # not before the change was over
