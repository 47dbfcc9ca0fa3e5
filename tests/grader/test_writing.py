"""A disk that is full: one sentence, and what was there is there still.

Records are written to a file system of 64 kB that is filled up, where this account may mount one,
and with a system call that says so everywhere.
"""

import concurrent.futures
import contextlib
import datetime
import errno
import io
import json
import os
import subprocess
import threading
from pathlib import Path

import pytest

from distlab.cli import main
from grader import writing
from grader.coursedir import ROOT
from grader.judging.ledger import Entry, Ledger, Line
from grader.looks.diary import Diary, about
from grader.policy.attempts import Attempts
from grader.policy.lateness import Duration
from grader.policy.roster import Extension, RosterFile
from grader.writing import NotWritten

LAB = "01-message-passing"


@pytest.fixture
def disk(tmp_path):
    """A small disk of its own, and a function that fills it up."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("only who may mount a file system can fill one up")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill(folder):
    with contextlib.suppress(OSError), (folder / "ballast").open("ab", buffering=0) as file:
        while file.write(b"x" * 4096):
            pass


def entry(message="before"):
    return Entry("ada", LAB, "digest", [Line("exchange", "wrong", 0.0, 3.0, message)])


def asked(diary, said):
    with diary.adding() as adding:
        event = about(adding.state.look("ada", LAB, "relay"), "asked", said=said, request=said)
        adding.add(event)


def extended(roster, days):
    with roster.changing() as held:
        held[0] = held[0].extend(LAB, "ada", Extension(Duration(days)))


def records(folder):
    """{what: how it is written, with some text, and how it is read}."""
    ledger, diary = Ledger(folder / "ledger"), Diary(folder / "looks.jsonl")
    roster, attempts = RosterFile(folder / "roster.json"), Attempts(folder / "attempts")
    page = folder / "out" / "page.html"
    return {
        "ledger": (lambda text: ledger.put(entry(text)), lambda: ledger.latest(LAB, "ada")),
        "mark": (lambda text: ledger.note_page(LAB, "ada", text),
                 lambda: ledger.page_shows(LAB, "ada", "before")),
        "diary": (lambda text: asked(diary, text), diary.read),
        "roster": (lambda text: extended(roster, len(text)), roster.read),
        "attempts": (lambda text: attempts.note(LAB, ["ada"], "ada", text[:99]),
                     lambda: attempts.of(LAB, ["ada"])),
        "page": (lambda text: writing.whole(page, text), page.read_text),
    }  # fmt: skip


WHAT = list(records(Path("/nowhere")))
LONG = "after " * 5000  # more than what may be left of a block


def refuses(folder, what):
    """Writing it ends in one sentence, and leaves what was there; once there is room it goes on."""
    write, read = records(folder)[what]
    kept = read()
    with pytest.raises(NotWritten) as failed:
        write(LONG if what != "roster" else "four")
    said = str(failed.value)
    assert str(folder) in said and os.strerror(errno.ENOSPC) in said
    assert "make room there, then do the same again" in said and "\n" not in said
    assert read() == kept
    assert not [path for path in folder.rglob("*.tmp")]  # it would take room


@pytest.mark.parametrize("what", WHAT)
def test_a_full_disk_loses_no_record(disk, what):
    write, read = records(disk)[what]
    write("before")
    fill(disk)
    refuses(disk, what)
    before = read()
    (disk / "ballast").unlink()
    write("again")
    assert read() != before


@pytest.mark.parametrize("call", ["write", "fsync"])
@pytest.mark.parametrize("what", WHAT)
def test_a_disk_that_is_full_only_when_it_comes_to_it_loses_no_record(
    tmp_path, monkeypatch, what, call
):
    """A file system over a network says so when what was written has to be kept."""
    write, read = records(tmp_path)[what]
    write("before")
    real = getattr(os, call)

    def full(handle, *content):
        if call == "write" and len(content[0]) > 1:
            return real(handle, content[0][:1])  # part of it is there then
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, call, full)
        refuses(tmp_path, what)
    before = read()
    write("again")
    assert read() != before


def test_a_line_of_the_diary_that_a_crash_has_cut_is_taken_away_before_the_next(tmp_path):
    diary = Diary(tmp_path / "looks.jsonl")
    asked(diary, "one")
    with diary.path.open("a") as file:
        file.write('{"what": "asked", "stud')
    asked(diary, "two")
    (look,) = diary.read().looks.values()
    assert [one.said for one in look.asked] == ["one", "two"]
    assert all(json.loads(line) for line in diary.path.read_text().splitlines())


def test_what_stands_in_the_way_of_a_record_is_to_be_moved_away(tmp_path):
    (tmp_path / "taken.csv").mkdir()
    with pytest.raises(NotWritten, match="move the folder of that name away"):
        writing.whole(tmp_path / "taken.csv", "new")
    (tmp_path / "out").write_text("kept")
    with pytest.raises(NotWritten, match="move the file away that is where a folder"):
        writing.whole(tmp_path / "out" / "lab" / "new.csv", "new")
    assert (tmp_path / "out").read_text() == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "taken.csv"]


def test_no_place_for_a_lock_is_said_too(tmp_path):
    (tmp_path / "looks.lock").mkdir()
    with pytest.raises(NotWritten, match="move the folder of that name away"):
        asked(Diary(tmp_path / "looks.jsonl"), "one")


def test_what_is_written_has_the_mode_that_was_asked_for(tmp_path):
    writing.whole(tmp_path / "one", "x", mode=0o644)
    assert (tmp_path / "one").stat().st_mode & 0o777 == 0o644


def test_a_command_ends_with_one_sentence(monkeypatch, capsys):
    def full(arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/srv/course/x")

    monkeypatch.setattr("distlab.cli.info", full)
    assert main(["info"]) == 1
    said = capsys.readouterr().err
    assert said == (
        "distlab: No space left on device (/srv/course/x): make room, then run the same command "
        "again\n"
    )


def test_a_report_that_cannot_be_written_is_said(tmp_path):
    from distlab.cli.parts import Refused, write_json

    with pytest.raises(Refused, match=r"x\.json cannot be written .*: make room"):
        write_json(Path("/dev/full/x.json"), {})
    with pytest.raises(Refused, match="cannot be written .No space left"):
        write_json(Path("/dev/full"), {"x": 1})


def test_times_in_the_ledger_are_not_touched_by_a_failure(tmp_path, monkeypatch):
    """Who reads while others cannot write sees what was there, at the time at which it was."""
    ledger = Ledger(tmp_path)
    ledger.put(entry())
    path = ledger.path(LAB, "ada")
    when = datetime.datetime(2026, 1, 1).timestamp()
    os.utime(path, (when, when))
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(errno.EROFS, "ro")))
        with pytest.raises(NotWritten, match="may write there"):
            ledger.put(entry("after"))
    assert path.stat().st_mtime == when


@pytest.mark.parametrize(
    "name",
    [
        "grader/" + name
        for name in (
            "gradebook.db", "gradebook.db-journal", "gradebook.lock", "lti.db", "lti.lock",
            ".looks.jsonl.tmp",
            Diary().path.name, Diary().path.with_suffix(".lock").name,
            RosterFile().path.name, RosterFile().path.with_suffix(".lock").name,
            "submitted/ada/x", "autograded/ada/x", "feedback/ada/x", "solution/x", "ledger/x",
            "out/x.csv", "attempts/ada.json", "own-references/x", "own-inputs/x",
        )
    ]
    + ["report.json"],
)  # fmt: skip
def test_what_grading_writes_into_the_course_goes_into_no_commit(name):
    known = subprocess.run(["git", "check-ignore", "-q", name], cwd=ROOT, capture_output=True)
    if known.returncode == 128:
        pytest.skip("this is no clone")
    assert known.returncode == 0


def test_files_that_are_written_by_several_at_once_are_one_of_them(tmp_path):
    """As two graders do in one folder: neither fails, and nothing is half of each."""
    path = tmp_path / "entry.json"
    contents = [bytes([65 + number]) * 50_000 for number in range(4)]
    writing.whole(path, contents[0])

    def write(content):
        for _ in range(50):
            writing.whole(path, content)
            assert path.read_bytes() in contents

    with concurrent.futures.ThreadPoolExecutor(len(contents)) as pool:
        list(pool.map(write, contents))
    assert [found.name for found in tmp_path.iterdir()] == ["entry.json"]


def test_what_a_killed_run_has_left_is_written_over(tmp_path):
    (tmp_path / ".entry.json.tmp").write_bytes(b"half of something longer")
    writing.whole(tmp_path / "entry.json", b"whole")
    assert (tmp_path / "entry.json").read_bytes() == b"whole"
    assert [found.name for found in tmp_path.iterdir()] == ["entry.json"]


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK])
def test_a_file_system_without_locks_takes_records_all_the_same(tmp_path, monkeypatch, number):
    def refuse(file, operation):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(writing.fcntl, "flock", refuse)
    with writing.locked(tmp_path / "records.lock"):
        for content in ("first", "second"):
            writing.whole(tmp_path / "records", content)
    assert (tmp_path / "records").read_text() == "second"
    assert sorted(os.listdir(tmp_path)) == ["records", "records.lock"]


class Heard(io.StringIO):
    """Standard error; `line` is set once a line has been said."""

    def __init__(self):
        super().__init__()
        self.line = threading.Event()

    def write(self, text):
        super().write(text)
        if "\n" in text:
            self.line.set()
        return len(text)


def test_who_waits_long_for_a_lock_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "PATIENCE", 0.05)
    monkeypatch.setattr(writing.sys, "stderr", heard := Heard())
    path = tmp_path / "records.lock"

    def wait():
        with writing.locked(path):
            return True

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        with writing.locked(path):
            waiting = pool.submit(wait)
            assert heard.line.wait(20) and not waiting.done()
        assert waiting.result()
    said = f"waiting for another command of this course, which has {path}\n"
    assert heard.getvalue() == said
    assert wait() and heard.getvalue() == said


def test_a_name_is_on_the_disk_too_when_it_is_said_to_be(tmp_path, monkeypatch):
    """After a power failure a file is there that nobody finds, else."""
    synced = []
    monkeypatch.setattr(writing.os, "fsync", lambda handle: synced.append(os.fstat(handle).st_ino))
    writing.whole(tmp_path / "whole", "a")
    assert synced == [(tmp_path / "whole").stat().st_ino, tmp_path.stat().st_ino]
    synced.clear()
    writing.add(tmp_path / "added", b"a")
    assert synced == [(tmp_path / "added").stat().st_ino, tmp_path.stat().st_ino]
    synced.clear()
    writing.add(tmp_path / "added", b"b")
    assert synced == [(tmp_path / "added").stat().st_ino]


def test_a_file_system_that_cannot_sync_names_takes_files_all_the_same(tmp_path, monkeypatch):
    sync = os.fsync

    def refused(handle):
        if os.path.samestat(os.fstat(handle), tmp_path.stat()):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        sync(handle)

    monkeypatch.setattr(writing.os, "fsync", refused)
    writing.whole(tmp_path / "whole", "a")
    assert (tmp_path / "whole").read_text() == "a"
