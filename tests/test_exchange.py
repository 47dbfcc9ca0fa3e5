"""Collecting from an exchange into which a student has written by hand."""

import os
import pwd
import sys

import pytest
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from grader.exchange import Collect

LAB, WHEN = "lab", "2026-11-02 10:00:00.000000 UTC"
ME = pwd.getpwuid(os.getuid()).pw_name


@pytest.fixture
def collect(tmp_path, monkeypatch):
    """`collect()`: the folder of what was collected from this process's user."""
    # nbgrader starts alembic by its bare name; nbgrader_config.py does this elsewhere
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable), prepend=os.pathsep)
    config = Config()
    config.CourseDirectory.root = str(tmp_path / "course")
    config.CourseDirectory.course_id = "course"
    config.CourseDirectory.assignment_id = LAB
    config.Exchange.root = str(tmp_path / "exchange")
    (tmp_path / "course").mkdir()
    (tmp_path / "exchange").mkdir(mode=0o777)
    (tmp_path / "exchange").chmod(0o777)
    inbound(tmp_path).mkdir(parents=True)

    def run():
        collecting = Collect(coursedir=CourseDirectory(config=config), config=config)
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


def test_a_file_that_is_too_large_is_left_out_and_the_rest_is_taken(tmp_path, collect, monkeypatch):
    hand_in(tmp_path, ME, small="1", large="1" * 5000)
    monkeypatch.setattr(CourseDirectory, "max_file_size", 2)
    found = collect() / ME / LAB
    assert {p.name for p in found.iterdir()} == {"small", "timestamp.txt"}
