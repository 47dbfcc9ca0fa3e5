"""Lab 02: what its harnesses see."""

import os
import shutil

import pytest

from distlab.course.lab02_toy_model import demo_checkpoint, setup


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        ("gloo", "gloo"),
        ("cpu:gloo", "gloo"),
        ("cpu:gloo,cuda:gloo", "gloo"),
        ("nccl", "nccl"),
        ("cpu:gloo,cuda:nccl", "nccl"),
        ("cuda:gloo", "cuda:gloo"),  # which serves no CPU
        ("mpi", "mpi"),
        ("cpu:gloo,cuda:mpi", "cpu:gloo,cuda:mpi"),
    ],
)
def test_a_back_end_is_known_in_all_its_names(asked, chosen):
    assert setup._chosen(asked) == chosen


@pytest.fixture
def watched(tmp_path):
    """A folder that is watched, and what was noted of it."""
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    with demo_checkpoint._watching(os.path.realpath(folder), slow=False) as log:
        yield folder, log


@pytest.mark.parametrize("move", [os.rename, os.replace, os.link, os.symlink, shutil.move])
def test_who_moves_a_file_into_the_folder_has_saved_it(tmp_path, watched, move):
    folder, log = watched
    (tmp_path / "written elsewhere").write_text("")
    move(str(tmp_path / "written elsewhere"), str(folder / "model.pt"))
    assert log == {"saved"}
    (folder / "model.pt").read_text()
    assert log == {"saved", "loaded"}


def test_what_happens_beside_the_folder_is_not_noted(tmp_path, watched):
    _, log = watched
    beside = tmp_path / "checkpoint of another"
    beside.mkdir()
    (beside / "a").write_text("")
    os.replace(beside / "a", beside / "b")
    assert log == set()
