"""Files of the cells reach the exercises, and what is too much or odd stays behind."""

import json
import os
import time

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


def test_what_is_gone_by_then_is_left_out_alone(here, tmp_path, monkeypatch):
    """A process that a cell has left behind may still clear away its files."""
    names = ("first", "second", "third")
    for name in names:
        (here / name).write_text(name)
    (here / "folder").mkdir()
    content = belongings._content

    def taken(path, most):
        (here / "folder").exists() and (here / "folder").rmdir()
        for name in names:
            if not path.endswith(name):
                (here / name).unlink(missing_ok=True)
        return content(path, most)

    monkeypatch.setattr(belongings, "_content", taken)
    there = tmp_path / "there"
    there.mkdir()
    unpack(packed(here), there)
    (left,) = (path for path in there.iterdir() if path.is_file())
    assert left.read_text() == left.name


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


@pytest.mark.parametrize("steps", [1, 50])
def test_links_that_lead_over_hundreds_of_others_take_no_time(here, tmp_path, steps):
    (here / "end").mkdir()
    for number in range(1500):
        over = "end" if number == 0 else f"l{number - 1}"
        (here / f"l{number}").symlink_to("/".join([f"{over}/.."] * (steps - 1) + [over]))
    there = tmp_path / "there"
    there.mkdir()
    begin = time.process_time()
    unpack(packed(here), there)
    assert time.process_time() - begin < 20
    assert (there / "end").is_dir() and not (there / "l1499").exists()


LONG = "d" * 247  # sixteen of them are more than a path may have


def test_a_link_whose_path_is_too_long_to_be_asked_leads_nowhere(here, tmp_path):
    """CVE-2025-4517: tarfile's filter takes it for one that stays in the folder."""
    there = tmp_path / "there"
    there.mkdir()
    (tmp_path / "victim").write_text("intact")
    steps = "/".join("abcdefghijklmnop")
    listed, path = [], ""
    for step in "abcdefghijklmnop":
        listed.append({"path": f"{path}{LONG}", "folder": True, "when": 0})
        listed.append({"path": f"{path}{step}", "to": LONG})
        path += f"{LONG}/"
    listed.append({"path": f"{steps}/{'l' * 254}", "to": "../" * 16})
    listed.append({"path": f"{path}{'l' * 254}", "to": "../" * 16})
    listed.append({"path": "escape", "to": f"{steps}/{'l' * 254}/.."})
    listed.append({"path": "flag", "to": f"{steps}/{'l' * 254}/../victim"})
    listed += [
        {"path": name, "size": 4, "runs": False, "when": 0} for name in ("escape/victim", "flag")
    ]
    unpack(json.dumps(listed).encode() + b"\noverover", there)
    assert (tmp_path / "victim").read_text() == "intact"
    assert not (there / "escape").is_symlink() and not (there / "flag").is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["home", "there", "victim"]


@pytest.mark.parametrize(
    "path",
    ["../victim", "HERE/victim", "a/../../victim", "", ".", "..", "a//b", "x/\0", "back/victim"],
)
def test_a_block_that_nobody_packed_writes_nowhere_else(here, tmp_path, path):
    (tmp_path / "victim").write_text("intact")
    block = json.dumps([
        {"path": "a", "folder": True, "when": 0}, {"path": "back", "to": ".."},
        {"path": "back/planted", "to": "a"},
        {"path": path.replace("HERE", str(tmp_path)), "size": 4, "runs": True, "when": 0},
    ]).encode()  # fmt: skip
    unpack(block + b"\nover", here)
    assert (tmp_path / "victim").read_text() == "intact" and os.listdir(here) == ["a"]
    assert sorted(os.listdir(tmp_path)) == ["home", "victim"]


@pytest.mark.parametrize(
    "block", [b"nonsense", b"\0" * 10, b"[" * 100_000, b"7\n", b"[1, {}]\nx",
              b'[{"path": 1, "size": -5, "runs": 0, "when": "x"}]\nx',
              b'[{"path": "f", "size": 1e999, "runs": 0, "when": 0}]\nx',
              b'[{"path": "f", "folder": 1, "when": 1e30}]'],
)  # fmt: skip
def test_a_block_that_is_none_breaks_nothing(here, block):
    unpack(block, here)
    assert not [name for name in os.listdir(here) if (here / name).is_file() and name != "1"]


def test_times_rights_and_second_names_come_too(here, tmp_path):
    (here / "step-1").mkdir()
    (here / "step-1" / "model").write_text("kept")
    (here / "step-1" / "model").chmod(0o755)
    os.link(here / "step-1" / "model", here / "latest")
    (here / "by path").symlink_to("step-1/model")
    (here / "odd\udcff\n").write_text("kept")
    os.utime(here / "step-1" / "model", ns=(5, 5_000_000_007))
    os.utime(here / "step-1", ns=(4, 4_000_000_003))
    there = tmp_path / "there"
    there.mkdir()
    unpack(packed(here), there)
    assert (there / "step-1").stat().st_mtime_ns == 4_000_000_003
    assert (there / "step-1" / "model").stat().st_mtime_ns == 5_000_000_007
    assert os.access(there / "step-1" / "model", os.X_OK)
    for name in ("latest", "by path", "odd\udcff\n"):
        assert (there / name).read_text() == "kept"


def test_a_link_by_its_whole_path_stays_where_the_home_is_the_same(here):
    (here / "model").write_text("kept")
    (here / "latest").symlink_to(here / "model")
    block = packed(here)
    for name in ("latest", "model"):
        (here / name).unlink()
    unpack(block, here)
    assert (here / "latest").read_text() == "kept"


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
