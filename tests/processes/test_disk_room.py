"""A full disk is told as that, and is no verdict on anybody's code."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from distlab.processes import disk_room
from grader.coursedir import LABS

#: a limit on the size of files is to a process what a full disk is
CHECKED = """
import resource, signal
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 10, 1 << 10))
import torch, torch.distributed as dist
from distlab import check

def exchange(rank, size, tensor):
    received = torch.empty_like(tensor)
    for request in [dist.isend(tensor, rank ^ 1), dist.irecv(received, rank ^ 1)]:
        request.wait()
    return received

check(exchange)
"""


def test_there_is_room_in_a_usual_folder_and_nothing_is_left_in_it(tmp_path):
    assert disk_room.need(tmp_path) is None and not list(tmp_path.iterdir())


def test_where_there_is_none_it_is_said_which_folder_and_what_to_do(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (disk_room.NEEDED - 1, hard))
    try:
        with pytest.raises(disk_room.NoRoom, match="has no room .* make room there, or set TMPDIR"):
            disk_room.need(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_right_answer_on_a_full_disk_has_no_verdict():
    done = subprocess.run(
        [sys.executable, "-B", "-c", CHECKED], cwd=Path(LABS, "01-message-passing"),
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 1 and "CheckFailed" not in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("distlab.processes.disk_room.NoRoom: ") and "make room" in last
