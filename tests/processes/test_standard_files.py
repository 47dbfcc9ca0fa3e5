"""A process whose standard output or input is closed runs ranks all the same."""

import subprocess
import sys

import pytest

from distlab.processes.starting import SETTING

SUMS = """
import sys
import torch.distributed as dist
from distlab import Ranks

def rank_of(rank, size):
    dist.barrier()
    print("heard by nobody")
    return rank

found = list(Ranks(2).run(rank_of))
with open(sys.argv[1], "w") as file:
    print(found, file=file)
"""


@pytest.mark.parametrize("way, closed", [("", ">&-"), ("", "2>&-"), ("spawn", ">&-")])
def test_ranks_run_where_standard_files_are_closed(closed, way, tmp_path, monkeypatch):
    monkeypatch.setenv(SETTING, way)
    program, told = tmp_path / "sums.py", tmp_path / "told"
    program.write_text(SUMS)
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, program, told]
    assert subprocess.run(command, timeout=120).returncode == 0
    assert told.read_text().strip() == "[0, 1]"


def test_a_command_whose_output_nobody_wants_says_so_by_its_status_alone():
    words = [sys.executable, "-m", "distlab", "info"]
    command = ["sh", "-c", 'exec "$@" >&-', "sh", *words]
    done = subprocess.run(command, timeout=60, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (0, "")
