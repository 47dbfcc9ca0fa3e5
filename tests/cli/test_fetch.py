"""`distlab fetch` copies a lab's folder and never anything over what is there."""

import io
import resource
import stat
from pathlib import Path

import pytest

from distlab import course
from distlab.cli import labs, main
from distlab.cli.parts import Mistaken, Refused

LAB = "01-message-passing"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_folder_is_what_the_lab_was_released_with(here, capsys):
    assert main(["fetch", LAB]) == 0
    assert contents(here / LAB) == contents(labs.folder_of(LAB))
    assert capsys.readouterr().out == (
        f"Lab {LAB} is in {LAB}.\nOpen {LAB}/message_passing.ipynb in JupyterLab; "
        f"`distlab check {LAB}` says how far you are.\n"
    )
    assert all(p.stat().st_mode & stat.S_IWUSR for p in (here / LAB).iterdir())


@pytest.mark.parametrize("asked", ["01-message-passing", "1", "01", "message-passing"])
def test_a_lab_is_found_by_name_and_by_number(asked):
    assert labs.named(asked) == LAB


def test_a_lab_in_the_current_folder_is_not_said_to_be_in_the_one_above(here, capsys):
    assert main(["fetch", LAB, "."]) == 0
    assert capsys.readouterr().out.startswith(f"Lab {LAB} is in this folder.\nOpen message_pass")
    assert main(["fetch", LAB, "."]) == 0
    assert "was in this folder already, and nothing was changed.\n" in capsys.readouterr().out


def test_without_a_lab_it_lists_them(capsys):
    assert main(["fetch"]) == 0
    assert capsys.readouterr().out.split() == list(course.LABS)


def test_what_is_there_is_kept_and_what_is_missing_is_brought(here, capsys):
    folder = here / "mine"
    folder.mkdir()
    (folder / "message_passing.ipynb").write_text("my answers")
    (folder / "notes.txt").write_text("mine")
    (folder / "AGENTS.md").symlink_to(here / "nowhere")
    assert main(["fetch", "1", "mine"]) == 0
    assert (
        "Lab 01-message-passing is in mine; what was there already was kept: AGENTS.md, "
        "message_passing.ipynb.\n" in capsys.readouterr().out
    )
    assert (folder / "message_passing.ipynb").read_text() == "my answers"
    assert (folder / "AGENTS.md").is_symlink() and not (here / "nowhere").exists()
    assert (folder / "reference.json").is_file()
    main(["fetch", "1", "mine"])
    assert "was in mine already, and nothing was changed" in capsys.readouterr().out


def test_the_command_that_goes_on_can_be_copied(here, capsys):
    assert main(["fetch", LAB, "my lab"]) == 0
    assert "`distlab check 'my lab'` says" in capsys.readouterr().out


class Interrupted(io.BufferedWriter):
    def write(self, content):
        super().write(content[:10])
        raise KeyboardInterrupt


def test_what_ctrl_c_has_cut_off_is_not_left_there(here, monkeypatch):
    def opened(path, mode):
        return Interrupted(io.FileIO(path, "x")) if mode == "xb" else open(path, mode)

    monkeypatch.setattr(Path, "open", opened)
    with pytest.raises(KeyboardInterrupt):
        labs.fetch(LAB, Path("mine"))
    assert not list((here / "mine").iterdir())


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_a_file_in_the_place_of_the_folder_is_the_users_mistake(here, capsys, name):
    (here / "file").write_text("")
    assert main(["fetch", LAB, name]) == 2
    assert capsys.readouterr().err == f"distlab: {name} is no folder: name another one\n"


@pytest.mark.parametrize("asked", ["99", "1.5", "", "../01-message-passing", "²"])
def test_a_lab_that_is_none_is_answered_with_those_that_are(here, asked):
    with pytest.raises(Mistaken, match="the labs are 01-message-passing, "):
        labs.named(asked)


def test_a_file_that_could_not_be_written_whole_is_not_left_there(here):
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, usual[1]))  # a notebook is larger
    try:
        with pytest.raises(Refused, match="cannot be written to mine: File too large"):
            labs.fetch(LAB, Path("mine"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    large = [path.name for path in labs.folder_of(LAB).iterdir() if path.stat().st_size > 5000]
    assert large and not [name for name in large if (here / "mine" / name).exists()]


def test_an_installation_without_labs_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(labs, "_PACKAGE", tmp_path / "a" / "b")
    with pytest.raises(Refused, match="has no folder of lab 01-message-passing"):
        labs.folder_of(LAB)
