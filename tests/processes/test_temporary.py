"""Folders that killed processes have left are removed, and nobody else's."""

import os
import subprocess
import sys
import tempfile

import pytest

from distlab.processes import temporary

_KILLED = (
    "import os, signal; from distlab.processes import temporary\n"
    "print(temporary.Folder('submitted-').path, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def killed(folder):
    """The folder that a killed process has left."""
    done = subprocess.run(
        [sys.executable, "-c", _KILLED], env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return folder / done.stdout.strip()


def age(of):
    """As if it had been made long ago."""
    os.utime(of / temporary._MARK, (0, 0))
    return of


def test_what_killed_processes_have_left_is_removed(folder):
    left = age(killed(folder))
    (left / "ada").mkdir()
    with temporary.folder("submitted-") as used:
        age(used)
        just_now = killed(folder)
        mine = folder / "distlab-mine"
        mine.mkdir()
        temporary.sweep()
        assert sorted(folder.iterdir()) == sorted([used, just_now, mine])
    assert sorted(folder.iterdir()) == sorted([just_now, mine])


def test_what_a_process_of_another_machine_has_made_is_left_to_that_one(folder, monkeypatch):
    theirs = age(killed(folder))
    monkeypatch.setattr(temporary, "_MARK", f"{temporary._MARK}-2")
    temporary.sweep()
    assert list(folder.iterdir()) == [theirs]


def test_pipes_and_links_of_strangers_are_passed_over(folder):
    for name, put in {
        "pipe": os.mkfifo,
        "link": lambda mark: mark.symlink_to(age(killed(folder)) / temporary._MARK),
    }.items():
        (of := folder / f"distlab-{name}").mkdir()
        put(of / temporary._MARK)
    temporary.sweep()  # would wait for whoever writes into the pipe
    assert {path.name for path in folder.iterdir()} == {"distlab-pipe", "distlab-link"}


def test_a_folder_that_cannot_be_marked_is_not_left(folder, monkeypatch):
    monkeypatch.setattr(temporary, "_MARK", "no/such/folder")
    with pytest.raises(OSError):
        temporary.Folder()
    assert not list(folder.iterdir())
