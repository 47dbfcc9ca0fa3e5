"""Lab 02: what its harnesses see."""

import os
import shutil

import pytest

from distlab.course.lab02_toy_model import demo_checkpoint, setup
from distlab.processes import stopped
from distlab.rank import sharing
from distlab.rank.recorder import Recorder
from distlab.rank.sharing import Board


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


class LateRank:
    """A clock on which rank 0 tells its ports after so many seconds of the others' waiting."""

    def __init__(self, board, seconds):
        self._board, self._due, self._now = board, seconds, 0.0

    def monotonic(self):
        return self._now

    def sleep(self, seconds):
        self._now += seconds
        if self._now >= self._due:
            self._board.note("ports.0", "[1234, 5678]")


def test_a_rank_that_the_machine_holds_up_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setenv("DISTLAB_RUN", str(tmp_path))
    clock = LateRank(Board(0, 2, tmp_path), seconds=15.0)
    monkeypatch.setattr(sharing, "time", clock)
    monkeypatch.setattr(stopped, "time", clock)
    with setup._told_ports(0, 1, 2) as told:
        assert told == (1234, 5678)


def test_a_group_of_another_rank_says_so_where_the_others_wait_for_it(tmp_path, monkeypatch):
    monkeypatch.setenv("DISTLAB_RUN", str(tmp_path))
    clock = LateRank(Board(0, 2, tmp_path), seconds=15.0)
    monkeypatch.setattr(sharing, "time", clock)
    monkeypatch.setattr(stopped, "time", clock)
    as_found = {"default process group": "rank 0 of 1"}
    with pytest.raises(RuntimeError, match="told rank 1 of 2, and after it the group says rank 0"):
        setup._is_this_rank(as_found, 1, 2)
    Board(0, 2, tmp_path).note("other group", "")
    assert not setup._is_this_rank(as_found, 1, 2)
    assert setup._is_this_rank({"default process group": "rank 1 of 2"}, 1, 2)


@pytest.fixture
def watched(tmp_path):
    """A folder that is watched, and what was noted of it."""
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    with demo_checkpoint._watching(os.path.realpath(folder), Board(1, 2, tmp_path), 0.0) as log:
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


class OwnTime:
    """A clock that only goes on while who has it sleeps."""

    now = 0.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds

    def of(self, call):
        """Seconds that this call takes."""
        begin = self.now
        call()
        return self.now - begin


def test_who_writes_is_held_until_the_others_wait_or_have_read(tmp_path, monkeypatch):
    clock = OwnTime()
    held, at_least = clock.of, pytest.approx(demo_checkpoint._SLOW)
    monkeypatch.setattr(demo_checkpoint, "time", clock)
    board = Board(0, 3, tmp_path)
    hold = demo_checkpoint._Hold(board, 0.3)
    record = Recorder(str(tmp_path / "1.rec"), 1, 3)
    record.started()
    Board(2, 3, tmp_path).note(demo_checkpoint._READ, "")
    assert held(hold) >= 0.3  # rank 1 computes, or pauses
    assert held(hold) == at_least  # that was all it is held for
    at = record.begin("barrier", 0)
    record.wait_begin(at, True)
    assert held(demo_checkpoint._Hold(board, 0.3)) == at_least
    record.finish(at, waited=True)
    assert held(demo_checkpoint._Hold(board, 0.3)) >= 0.3
    record.ended(raised=True)
    assert held(demo_checkpoint._Hold(board, 0.3)) == at_least
