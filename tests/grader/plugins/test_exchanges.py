"""The grader looks at an exchange that is a folder, and at one that is a service."""

import datetime
import errno
import json
import os
import pwd
import time
import types

import pytest
from served import COURSE, LAB, Hub, folder_of
from served import Service as Process
from traitlets.config import Config

from distlab import course
from distlab.exchange import manifest as manifests
from grader import coursedir
from grader.coursedir import GradingFailed
from grader.plugins import exchanges
from grader.plugins.autograde_on_submit import Arrivals
from grader.policy.lateness import UTC
from grader.policy.rules import Policy, Rules

REAL = "01-message-passing"
WHEN = "2026-11-02 10:00:00.000000 UTC"


def config(**options):
    made = Config()
    for name, value in options.items():
        made.HTTPExchange[name] = value
    return made


def test_nbgraders_configuration_says_which_it_is(tmp_path):
    assert isinstance(exchanges.of(Config(), str(tmp_path), COURSE), exchanges.SharedFolder)
    assert isinstance(exchanges.of(config(patience=1), "", COURSE), exchanges.SharedFolder)
    assert isinstance(exchanges.of(config(url="http://x/"), "", COURSE), exchanges.Service)


@pytest.fixture
def accounts(monkeypatch):
    """Accounts of this machine, which all files here belong to unless another uid is put there."""
    known = dict.fromkeys(("ada", "ben"), os.getuid())

    def named(name):
        return types.SimpleNamespace(pw_uid=known[name])

    monkeypatch.setattr(pwd, "getpwnam", named)
    return known


def complete(folder):
    """As nbgrader ends to hand in."""
    (folder / "submission_secret.txt").write_text("5ec2e7")
    folder.chmod(0o777)


def test_what_is_complete_in_a_folder_has_arrived_once(tmp_path, accounts):
    found = exchanges.of(Config(), str(tmp_path), COURSE)
    assert list(found.arrived()) == [] and not found.is_released(REAL)
    arrivals, inbound = Arrivals(found), tmp_path / COURSE / "inbound"
    for student, ends in (("ada", complete), ("ben", lambda folder: folder.chmod(0o700))):
        folder = inbound / f"{student}+{REAL}+{WHEN}+random"
        folder.mkdir(parents=True)
        ends(folder)
    assert arrivals.look() == {REAL: ["ada"]} and arrivals.look() == {}
    complete(folder)
    assert arrivals.look() == {REAL: ["ben"]}


def test_a_glance_tells_that_a_look_at_a_folder_is_worth_it(tmp_path, accounts):
    found = exchanges.of(Config(), str(tmp_path), COURSE)
    assert not found.stirs(), "nothing was released yet"
    folder = tmp_path / COURSE / "inbound" / f"ada+{REAL}+{WHEN}+random"
    folder.parent.mkdir(parents=True)
    arrivals = Arrivals(found)

    def looked():
        seen = arrivals.look()
        assert not found.stirs()
        return seen

    for change, seen in (
        (lambda: folder.mkdir(mode=0o755), {}),
        (lambda: (folder / "message_passing.ipynb").write_text("{}"), {}),
        (lambda: (folder / "submission_secret.txt").write_text("5ec2e7"), {}),
        (lambda: folder.chmod(0o777), {REAL: ["ada"]}),
        (lambda: (folder.parent / f"ben+{REAL}+{WHEN}+random").mkdir(mode=0o700), {}),
        (lambda: folder.rename(tmp_path / "gone"), {}),
    ):
        assert looked() == {}
        os.utime(folder.parent, ns=(0, 0))  # the clock of a file system can be as coarse as 10 ms
        arrivals.look()
        change()
        assert found.stirs()
        assert looked() == seen
    (folder.parent / f"ben+{REAL}+{WHEN}+random").rmdir()
    assert found.stirs(), "and what it was is no failure"


def test_what_is_open_to_all_while_it_is_copied_arrives_when_it_is_complete(
    tmp_path, accounts, monkeypatch
):
    """The student's umask is 0, or the rights of a folder that is open to all were copied."""
    folder = tmp_path / COURSE / "inbound" / f"ada+{REAL}+{WHEN}+random"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    arrivals, now = Arrivals(exchanges.of(Config(), str(tmp_path), COURSE)), [0.0]
    monkeypatch.setattr(exchanges.time, "monotonic", lambda: now[0])
    for name, content in (
        ("message_passing.ipynb", "{}"), ("timestamp.txt", WHEN), ("submission_secret.txt", ""),
    ):  # fmt: skip
        assert arrivals.look() == {}
        (folder / name).write_text(content)
    assert arrivals.look() == {}, "the secret is being written"
    complete(folder)
    assert arrivals.look() == {REAL: ["ada"]} and arrivals.look() == {}
    (folder / "submission_secret.txt").unlink()
    by_hand = folder.rename(folder.parent / f"ben+{REAL}+{WHEN}+random")
    assert arrivals.look() == {} and by_hand.is_dir()
    now[0] += exchanges.SETTLED + 1
    assert arrivals.look() == {REAL: ["ben"]}, "who copied it by hand wrote none"


@pytest.mark.parametrize("settled", [True, False])
def test_a_glance_looks_at_few_submissions_however_many_are_not_complete(
    tmp_path, accounts, monkeypatch, settled
):
    """Some exchanges never open a folder to all."""
    inbound = tmp_path / COURSE / "inbound"
    for number in range(3 * exchanges.MOST_GLANCED):
        (inbound / f"ada+{REAL}+{WHEN}+{number}").mkdir(parents=True, mode=0o755)
    found, now, looked = exchanges.of(Config(), str(tmp_path), COURSE), [0.0], []
    monkeypatch.setattr(exchanges.time, "monotonic", lambda: now[0])
    for _ in range(2):
        list(found.arrived())
        now[0] += (exchanges.SETTLED + 1) * settled
    stat = exchanges.Path.stat

    def counted(path, **options):
        looked.append(path)
        return stat(path, **options)

    monkeypatch.setattr(exchanges.Path, "stat", counted)
    assert not found.stirs()
    assert len(looked) == 1 + (not settled) * exchanges.MOST_GLANCED


def test_what_was_long_in_being_copied_arrives_again_when_it_is_complete(
    tmp_path, accounts, monkeypatch
):
    folder = tmp_path / COURSE / "inbound" / f"ada+{REAL}+{WHEN}+random"
    folder.mkdir(parents=True, mode=0o755)
    arrivals, now = Arrivals(exchanges.of(Config(), str(tmp_path), COURSE)), [0.0]
    monkeypatch.setattr(exchanges.time, "monotonic", lambda: now[0])
    assert arrivals.look() == {}
    now[0] += exchanges.SETTLED + 1
    assert arrivals.look() == {REAL: ["ada"]} and arrivals.look() == {}
    complete(folder)
    assert arrivals.look() == {REAL: ["ada"]} and arrivals.look() == {}


def test_nothing_arrives_under_anothers_name(tmp_path, accounts):
    """Else whoever makes four hundred folders with the class's names has all judged once more."""
    accounts["ben"] += 1
    inbound = tmp_path / COURSE / "inbound"
    for student in ("ada", "ben", "nobody-at-all", "b\udce4n", "..", "*"):
        folder = inbound / f"{student}+{REAL}+{WHEN}+random"
        folder.mkdir(parents=True)
        complete(folder)
    arrivals = Arrivals(exchanges.of(Config(), str(tmp_path), COURSE))
    assert arrivals.look() == {REAL: ["ada"]}


@pytest.mark.parametrize("ahead", [-7200.0, 0.0, 7200.0])
def test_whether_a_folder_is_still_written_to_is_not_told_by_two_clocks(
    tmp_path, accounts, monkeypatch, ahead
):
    """The exchange lies on a server whose clock is hours behind or ahead, or ours was set."""
    now, wall = [1000.0], time.time() + ahead
    monkeypatch.setattr(exchanges.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(exchanges.time, "time", lambda: wall)
    arrivals = Arrivals(exchanges.of(Config(), str(tmp_path), COURSE))
    folder = tmp_path / COURSE / "inbound" / f"ada+{REAL}+{WHEN}+random"
    folder.mkdir(parents=True, mode=0o700)
    assert arrivals.look() == {}
    now[0] += exchanges.SETTLED - 1
    (folder / "message_passing.ipynb").touch()  # the folder is changed by that
    assert arrivals.look() == {}
    now[0] += exchanges.SETTLED - 1
    assert arrivals.look() == {}
    now[0] += 2
    assert arrivals.look() == {REAL: ["ada"]}


class Away:
    """An exchange that fails in the middle of its first look."""

    looks = 0

    def arrived(self):
        self.looks += 1
        yield f"ada+{REAL}+{WHEN}+random", "ada", REAL
        if self.looks == 1:
            raise OSError(errno.ESTALE, "Stale file handle")
        yield f"ben+{REAL}+{WHEN}+random", "ben", REAL


def test_who_had_arrived_when_a_look_failed_is_found_by_the_next_one():
    arrivals = Arrivals(Away())
    with pytest.raises(OSError, match="Stale"):
        arrivals.look()
    assert arrivals.look() == {REAL: ["ada", "ben"]} and arrivals.look() == {}


def test_a_folder_that_cannot_be_looked_at_now_keeps_no_other_from_arriving(
    tmp_path, accounts, monkeypatch
):
    scan, inbound = os.scandir, tmp_path / COURSE / "inbound"
    for student in ("ada", "ben"):
        (inbound / f"{student}+{REAL}+{WHEN}+random").mkdir(parents=True)
        complete(inbound / f"{student}+{REAL}+{WHEN}+random")

    class Stale:
        def __init__(self, entry):
            self.name, self._entry = entry.name, entry

        def stat(self, **options):
            if self.name.startswith("ada"):
                raise OSError(errno.ESTALE, "Stale file handle")
            return self._entry.stat(**options)

    arrivals = Arrivals(exchanges.of(Config(), str(tmp_path), COURSE))
    with monkeypatch.context() as patched:
        patched.setattr(exchanges.os, "scandir", lambda path: map(Stale, scan(path)))
        assert arrivals.look() == {REAL: ["ben"]}
    assert arrivals.look() == {REAL: ["ada"]}


@pytest.mark.slow
def test_what_was_handed_in_to_a_service_has_arrived_once(tmp_path, monkeypatch):
    pytest.importorskip("jupyterhub", reason="the Hub is not installed: pip install jupyterhub")
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "of-grading")
    with Hub() as hub, Process(hub, tmp_path / "exchange", ["--reserve=0"]) as service:
        options = config(url=service.url, patience=5.0)
        options.Exchange.cache = str(tmp_path / "cache")
        found = exchanges.of(options, "", COURSE)
        arrivals = Arrivals(found)
        assert arrivals.look() == {} and not found.is_released(REAL)
        lab = folder_of(tmp_path / "lab", data="1")
        notebook = lab / course.notebook_name(REAL)
        notebook.write_text(json.dumps(coursedir.released(REAL)))
        files = manifests.of_folder(lab)
        with service.client("lecturer") as client:
            client.release(COURSE, REAL, lab, files)
            client.release(COURSE, LAB, lab, files)
        with service.client("ada") as client:
            client.hand_in(COURSE, REAL, lab, files, "1" * 32)
            client.hand_in(COURSE, LAB, lab, files, "2" * 32)  # no lab of the course's
        assert arrivals.look() == {REAL: ["ada"]} and arrivals.look() == {}
        assert found.is_released(REAL)

        due = datetime.datetime(2026, 11, 1, 22, 59, 59, tzinfo=UTC)
        policy = Policy(True, labs={REAL: Rules(due=due)})
        released = service.root / COURSE / "outbound" / REAL / notebook.name
        found.notice(REAL, policy)
        found.notice("02-toy-model", policy)  # not handed out
        assert "Due: Sun 1 November 2026" in released.read_text()
        before = released.stat().st_ino
        found.notice(REAL, policy)
        assert released.stat().st_ino == before
        service.kill()
        with pytest.raises(GradingFailed, match="does not answer"):
            exchanges.of(config(url=service.url, patience=0.1), "", COURSE).is_released(REAL)
