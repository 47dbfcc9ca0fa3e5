"""Collecting from an exchange into which a student has written by hand."""

import contextlib
import datetime
import errno
import os
import pwd
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from exchanging import exchanging
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from grader.plugins import collect as collecting
from grader.plugins.collect import COPYING, Collect, _changed
from grader.writing import NotWritten

LAB, WHEN = "lab", "2026-11-02 10:00:00.000000 UTC"
ME = pwd.getpwuid(os.getuid()).pw_name


@pytest.fixture(scope="module")
def gradebook(tmp_path_factory):
    """A folder for a gradebook, which takes seconds to make."""
    return tmp_path_factory.mktemp("gradebook")


@pytest.fixture
def collect(tmp_path, monkeypatch, gradebook):
    """`collect()`: the folder of what was collected from this process's user, with `--update` or
    what else is named.
    """
    # nbgrader starts alembic by its bare name; nbgrader_config.py does this elsewhere
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable), prepend=os.pathsep)
    config = Config()
    config.CourseDirectory.root = str(tmp_path / "course")
    config.CourseDirectory.course_id = "course"
    config.CourseDirectory.assignment_id = LAB
    config.CourseDirectory.db_url = f"sqlite:///{gradebook}/gradebook.db"
    config.Exchange.root = str(tmp_path / "exchange")
    (tmp_path / "course").mkdir()
    (tmp_path / "exchange").mkdir(mode=0o777)
    (tmp_path / "exchange").chmod(0o777)
    inbound(tmp_path).mkdir(parents=True)

    def run(**options):
        collecting = Collect(coursedir=CourseDirectory(config=config), config=config)
        for name, value in (options or {"update": True}).items():
            setattr(collecting, name, value)
        collecting.start()
        return tmp_path / "course" / "submitted"

    return run


def inbound(tmp_path):
    return tmp_path / "exchange" / "course" / "inbound"


def hand_in(tmp_path, name, when=WHEN, **files):
    folder = inbound(tmp_path) / f"{name}+{LAB}+{when}+random"
    folder.mkdir()
    (folder / "timestamp.txt").write_text(when)
    for file, said in files.items():
        (folder / file).write_text(said)
    return folder


def test_plain_files_are_collected_folders_included(tmp_path, collect):
    folder = hand_in(tmp_path, ME, answer="42")
    (folder / "more").mkdir()
    (folder / "more" / "data").write_text("1")
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / "old").write_text("0")
    found = collect() / ME / LAB
    assert {str(p.relative_to(found)) for p in found.rglob("*") if p.is_file()} == {
        "answer", "timestamp.txt", "more/data",
    }  # fmt: skip


def test_what_a_link_leads_to_is_not_the_students_answer(tmp_path, collect):
    secret = tmp_path / "solutions"
    secret.mkdir()
    (secret / "solution").write_text("the answer")
    folder = hand_in(tmp_path, ME)
    (folder / "answer").symlink_to(secret / "solution")
    (folder / "folder").symlink_to(secret)
    os.mkfifo(folder / "pipe")  # whoever opens it waits
    found = collect() / ME / LAB
    assert [p.name for p in found.rglob("*")] == ["timestamp.txt"]


def test_a_link_in_place_of_a_submission_is_left_where_it_is(tmp_path, collect):
    (tmp_path / "elsewhere").mkdir()
    (inbound(tmp_path) / f"{ME}+{LAB}+{WHEN}+random").symlink_to(tmp_path / "elsewhere")
    assert not collect().exists()


def test_one_student_cannot_hand_in_as_another(tmp_path, collect):
    other = next(one.pw_name for one in pwd.getpwall() if one.pw_uid != os.getuid())
    hand_in(tmp_path, other, answer="mine, under your name")
    hand_in(tmp_path, "nobody-of-this-machine", answer="under no name at all")
    assert not collect().exists()


def test_a_forgery_does_not_hide_the_students_own_submission(tmp_path, collect, monkeypatch):
    own = hand_in(tmp_path, ME, answer="own")
    forged = hand_in(tmp_path, ME, "2026-11-02 11:00:00.000000 UTC", answer="forged")
    is_own = Collect._is_own
    monkeypatch.setattr(
        Collect, "_is_own",
        lambda self, record: record["filename"] != forged.name and is_own(self, record),
    )  # fmt: skip
    assert (collect() / ME / LAB / "answer").read_text() == "own"
    assert own.exists()


def test_names_do_nothing_to_the_terminal(tmp_path, collect, caplog):
    caplog.set_level("WARNING", "traitlets")  # which commands of nbgrader's set for their process
    escape = "\x1b[2J\u202e\udcff\n"
    hand_in(tmp_path, f"nobody{escape}", answer="under no name at all")
    (hand_in(tmp_path, ME, when="\x1b[2J") / f"pipe{escape}").symlink_to("nowhere")
    assert (collect() / ME / LAB / "timestamp.txt").exists()
    said = [one.getMessage() for one in caplog.records if one.levelname in ("WARNING", "ERROR")]
    assert [one for one in said if "nobody" in one] and [one for one in said if "pipe" in one]
    assert all("\\x1b[2J" in one and one.isprintable() for one in said)


def test_a_file_that_is_too_large_is_left_out_and_the_rest_is_taken(tmp_path, collect, monkeypatch):
    hand_in(tmp_path, ME, small="1", large="1" * 5000)
    monkeypatch.setattr(CourseDirectory, "max_file_size", 2)
    found = collect() / ME / LAB
    assert {p.name for p in found.iterdir()} == {"small", "timestamp.txt"}


def now(seconds=0.0):
    """The time so many seconds from now, as students' programs write it."""
    when = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return f"{when:%Y-%m-%d %H:%M:%S.%f} UTC"


def noted(folder):
    """The time of hand-in that was collected, in seconds from now."""
    text = (folder / ME / LAB / "timestamp.txt").read_text()
    when = datetime.datetime.strptime(text, "%Y-%m-%d %H:%M:%S.%f UTC")
    now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
    return (when - now).total_seconds()


def test_the_time_of_handing_in_is_the_students_where_it_can_be_true(tmp_path, collect):
    when = now(-COPYING / 2)  # copying a large folder has taken that long
    hand_in(tmp_path, ME, when, answer="42")
    assert (collect() / ME / LAB / "timestamp.txt").read_text() == when


@pytest.mark.parametrize("said", [-86400.0, -2 * COPYING, 3600.0])
def test_a_time_that_cannot_be_true_is_the_one_at_which_the_files_were_there(
    tmp_path, collect, said
):
    folder = hand_in(tmp_path, ME, now(said), answer="42")
    for path in (folder, *folder.iterdir()):
        os.utime(path, (0, 0))  # mtime is the student's to choose
    assert abs(noted(collect())) < 60


def test_a_file_that_is_changed_after_handing_in_was_handed_in_then(tmp_path, collect, monkeypatch):
    folder = hand_in(tmp_path, ME, now(-300), answer="too late")
    late, changed = folder / "answer", _changed

    def earlier(handle):  # nobody can set a ctime
        path = Path(os.readlink(f"/proc/self/fd/{handle}"))
        return changed(handle) - (0.0 if path == late else 290.0)

    monkeypatch.setattr("grader.plugins.collect._changed", earlier)
    assert abs(noted(collect())) < 60
    late = None
    (tmp_path / "course" / "submitted" / ME / LAB / "timestamp.txt").unlink()
    assert abs(noted(collect()) + 300) < 60


@pytest.mark.parametrize("when", ["tomorrow", "", "9" * 80])
def test_a_name_without_a_time_keeps_nobody_from_handing_in(tmp_path, collect, when):
    hand_in(tmp_path, ME, when, answer="42")
    found = collect()
    assert (found / ME / LAB / "answer").read_text() == "42" and abs(noted(found)) < 60


def test_what_is_collected_again_is_not_copied_again(tmp_path, collect):
    hand_in(tmp_path, ME, now(-86400), answer="42")
    answer = collect() / ME / LAB / "answer"
    answer.write_text("collected")
    assert collect() and answer.read_text() == "collected"
    hand_in(tmp_path, ME, now(), answer="43")
    assert collect() and answer.read_text() == "43"


def test_folders_and_files_without_end_are_cut(tmp_path, collect, monkeypatch):
    folder = hand_in(tmp_path, ME, answer="42")
    here = os.open(folder, os.O_RDONLY)
    for _ in range(3000):  # a path longer than any that can be written
        os.mkdir("deeper" * 20, dir_fd=here)
        below = os.open("deeper" * 20, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    for number in range(200):
        (folder / f"file{number:03}").touch()
    monkeypatch.setattr("grader.plugins.collect.MOST_FILES", 100)
    found = {path.name for path in (collect() / ME / LAB).iterdir()}
    assert "answer" in found and "file050" in found and "file150" not in found
    remove(folder)


def test_submissions_without_end_are_not_all_looked_through(tmp_path, collect, monkeypatch):
    for seconds in range(10, 20):
        hand_in(tmp_path, ME, now(seconds - 30.0), answer=str(seconds), more="1")
    looked = []
    look = collecting.Submission.look

    def counted(self):
        looked.append(self.name)
        return look(self)

    monkeypatch.setattr(collecting, "MOST_LOOKED", 10)
    monkeypatch.setattr(collecting.Submission, "look", counted)
    found = collect() / ME / LAB
    assert len(looked) == 4  # three names in each
    assert (found / "answer").read_text() == "19"


def remove(folder):
    """Remove a tree that is too deep for `shutil.rmtree`."""
    subprocess.run(["rm", "-r", str(folder)], check=True)


def test_one_submission_that_cannot_be_copied_does_not_keep_the_others(
    tmp_path, collect, monkeypatch
):
    copied = []

    def copy(self, src, dest, log=None):
        copied.append(src)
        if len(copied) == 1:
            raise OSError("no room")

    monkeypatch.setattr(Collect, "do_copy", copy)
    monkeypatch.setattr(Collect, "_is_own", lambda self, record: True)
    for name in ("one", "two", "three"):
        hand_in(tmp_path, name, answer="42")
    collect()
    assert len(copied) == 3


def test_a_full_disk_leaves_no_half_of_a_submission_and_is_said(tmp_path, collect, monkeypatch):
    """Half of a notebook could not be read, and would be graded with no points."""
    monkeypatch.setattr(Collect, "_is_own", lambda self, record: True)
    real = collecting._copied

    def copied(file, to, size):
        found = real(file, to, size // 2)
        if "one" in to.parts:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return found

    for name in ("one", "two"):
        hand_in(tmp_path, name, answer="42")
    with monkeypatch.context() as patched:
        patched.setattr(collecting, "_copied", copied)
        with pytest.raises(NotWritten, match="make room there"):
            collect()
    submitted = tmp_path / "course" / "submitted"
    assert not (submitted / "one" / LAB).exists() and (submitted / "two" / LAB / "answer").exists()
    collect()
    assert (submitted / "one" / LAB / "answer").read_text() == "42"


def test_a_full_disk_leaves_the_earlier_submission(tmp_path, collect, monkeypatch):
    hand_in(tmp_path, ME, answer="1")
    place = collect() / ME / LAB
    hand_in(tmp_path, ME, when="2026-11-02 11:00:00.000000 UTC", answer="2")
    with monkeypatch.context() as patched:
        patched.setattr(collecting, "_copied", full_disk)
        with pytest.raises(NotWritten):
            collect()
    assert (place / "answer").read_text() == "1" and os.listdir(place.parent) == [LAB]
    collect()
    assert (place / "answer").read_text() == "2" and os.listdir(place.parent) == [LAB]


def full_disk(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_killed_at_any_moment_one_submission_is_there_or_put_back(tmp_path, collect, monkeypatch):
    hand_in(tmp_path, ME, answer="1")
    place = collect() / ME / LAB
    hand_in(tmp_path, ME, when="2026-11-02 11:00:00.000000 UTC", answer="2")
    rename = Path.rename

    class Killed(BaseException):
        pass

    def failing(error):
        def renamed(path, to):
            if path.name.endswith(".new"):  # the earlier one is out of its place
                raise error
            return rename(path, to)

        with monkeypatch.context() as patched:
            patched.setattr(Path, "rename", renamed)
            with pytest.raises((Killed, NotWritten)):
                collect()

    failing(Killed())
    assert not place.exists()
    collect(update=False)
    assert (place / "answer").read_text() == "1"
    failing(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert (place / "answer").read_text() == "1" and os.listdir(place.parent) == [LAB]
    collect()
    assert (place / "answer").read_text() == "2" and os.listdir(place.parent) == [LAB]


def test_what_a_crash_has_left_beside_a_submission_is_nobodys_later(tmp_path, collect):
    hand_in(tmp_path, ME, answer="2")
    place = collect() / ME / LAB
    earlier = place.with_name(f".{LAB}.old")
    earlier.mkdir()
    (earlier / "answer").write_text("1")
    collect(update=False)
    assert os.listdir(place.parent) == [LAB] and (place / "answer").read_text() == "2"


def test_two_that_collect_at_the_same_time_leave_a_whole_submission(tmp_path, collect, monkeypatch):
    """A click in the formgrader while `nbgrader collect` is at work."""
    copied, real = [], collecting._copied
    second = threading.Thread(target=collect)

    def copy(file, to, size):
        copied.append(to.name)
        if len(copied) == 2:
            second.start()
            second.join(1.0)  # it would be done by then
        return real(file, to, size)

    monkeypatch.setattr(collecting, "_copied", copy)
    files = {f"file{number}": str(number) for number in range(4)}
    hand_in(tmp_path, ME, **files)
    place = collect() / ME / LAB
    second.join()
    assert {path.name for path in place.iterdir()} == {*files, "timestamp.txt"}
    assert os.listdir(place.parent) == [LAB] and len(copied) == 5


def test_a_lock_that_cannot_be_had_keeps_nobody_from_collecting(tmp_path, collect):
    """Another account of the course may have made its file."""
    hand_in(tmp_path, ME, answer="1")
    (tmp_path / "course/submitted/.collect.lock").mkdir(parents=True)
    assert (collect() / ME / LAB / "answer").read_text() == "1"


def test_a_file_that_is_exchanged_for_a_link_meanwhile_is_not_followed(tmp_path, collect):
    (tmp_path / "solution").write_text("the solution")
    folder = hand_in(tmp_path, ME, answer="own")
    lure = folder / "lure"
    lure.symlink_to(tmp_path / "solution")
    with exchanging(folder / "answer", lure):
        for _ in range(20):
            found = {path.read_text() for path in collect().glob(f"{ME}/{LAB}/[al]*")}
            assert found <= {"own"}
            with contextlib.suppress(FileNotFoundError):
                (tmp_path / "course" / "submitted" / ME / LAB / "timestamp.txt").unlink()


@pytest.mark.parametrize("options", [{"update": True}, {"update": False}, {"before_duedate": True}])
def test_a_time_that_somebody_has_written_by_hand_does_not_keep_the_others(
    tmp_path, collect, monkeypatch, options
):
    """A lecturer has put ada's notebook there, with a note in place of a time."""
    monkeypatch.setattr(collecting, "is_accounts", lambda name, uid: True)
    for name in ("ada", "ben"):
        hand_in(tmp_path, name, answer="42")
    there = tmp_path / "course" / "submitted" / "ada" / LAB
    there.mkdir(parents=True)
    (there / "timestamp.txt").write_text("sent by mail")
    found, replaced = collect(**options), any(options.values())
    taken = {path.parent.parent.name for path in found.glob("*/*/answer")}
    assert taken == ({"ada", "ben"} if replaced else {"ben"})
    assert ("UTC" in (there / "timestamp.txt").read_text()) is replaced
