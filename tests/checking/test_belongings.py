"""Files of the cells reach the exercises, and what is too much or odd stays behind."""

import os

import pytest
from test_session import EXCHANGE, inputs, values

from distlab.checking import belongings
from distlab.checking.belongings import packed, unpack
from distlab.checking.session import Session
from distlab.notebook import Cell


@pytest.fixture
def here(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def test_files_folders_and_links_come_as_they_were(here, tmp_path):
    (here / "deep" / "er").mkdir(parents=True)
    (here / "deep" / "er" / "notes").write_bytes(b"kept\0")
    (here / "link").symlink_to("deep/er/notes")
    there = tmp_path / "there"
    there.mkdir()
    unpack(packed(here), there)
    assert (there / "deep" / "er" / "notes").read_bytes() == b"kept\0"
    assert (there / "link").read_bytes() == b"kept\0"


def test_nothing_is_nothing(here):
    assert packed(here) == b""
    unpack(b"", here)


def test_a_pipe_is_left_behind_and_does_not_stall(here):
    os.mkfifo(here / "pipe")
    (here / "file").write_text("kept")
    there = here / "there"
    block = packed(here)
    there.mkdir()
    unpack(block, there)
    assert sorted(os.listdir(there)) == ["file"]


@pytest.mark.parametrize(
    ("limit", "value"), [("MOST_FILES", 3), ("MOST_BYTES", 3), ("MOST_DEPTH", 2)]
)
def test_too_much_is_nothing(here, monkeypatch, limit, value):
    (here / "a" / "b" / "c" / "d").mkdir(parents=True)
    (here / "a" / "file").write_text("four")
    assert packed(here)
    monkeypatch.setattr(belongings, limit, value)
    assert packed(here) == b""


def test_links_out_of_the_folder_are_not_put_anywhere(here, tmp_path):
    (here / "out").symlink_to(tmp_path / "elsewhere")
    there = tmp_path / "there"
    there.mkdir()
    unpack(packed(here), there)
    assert os.listdir(there) == []


def test_what_a_cell_wrote_is_there_in_every_exercise_and_what_an_exercise_wrote_is_not(zygote):
    answer = """
import pathlib
pathlib.Path("notes").write_text("kept")

def exchange(rank, size, tensor):
    found = pathlib.Path("notes").read_text(), pathlib.Path("left").exists()
    pathlib.Path("left").write_text("left")
    return torch.full((1,), float(found == ("kept", False)))
"""
    with Session(zygote) as session:
        given = Cell("cell 1", "import torch\nimport torch.distributed as dist", "given")
        assert session.cells([given, Cell("exchange", answer, "solution")], 5) == {}
        for _ in range(2):
            assert [1.0] in values(session.run(EXCHANGE, inputs(), 10))
            session.end_room()
