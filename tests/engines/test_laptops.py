"""The student's half without Linux: no /proc, no /dev/shm, no `prctl`, no fork, another platform.

`elsewhere` hides these from whole programs. What is slow here is what spawned ranks cost: each of
them imports torch for itself.
"""

import json

import elsewhere
import pytest

from distlab import course

ROOT = elsewhere.ROOT
LAB = "01-message-passing"
HIDDEN = """
import ctypes, os, pathlib, sys
def refused(call):
    try:
        call()
    except (OSError, RuntimeError, AttributeError):
        return True
assert refused(os.fork) and refused(lambda: ctypes.CDLL(None).prctl)
assert not pathlib.Path("/proc/self").exists() and not os.path.exists("/sys/class")
from distlab.processes import starting
way = starting.way()
assert not way.forks, way
with way.source(("json",), spares=0) as source:
    started = source.forks(2, "os:getpid")
    assert [source.status(pid) for pid in started.pids()] == [0, 0]
print(way.told())
"""
ANSWERS = """
from distlab import Ranks, check
import torch, torch.distributed as dist

def exchange(rank, size, tensor):
    dist.send(tensor, rank ^ 1)
    dist.recv(tensor, rank ^ 1)
    return tensor

def relay(rank, size, tensor):
    return tensor

def both_receive(rank, size):
    dist.recv(torch.zeros(1), 1 - rank)

def dies(rank, size):
    import os
    if rank:
        os._exit(3)
    dist.all_reduce(torch.ones(1))

def mean(rank, size):
    total = torch.tensor([float(rank)])
    dist.all_reduce(total)
    return total.item() / size

for answer in (exchange, relay):
    try:
        check(answer)
    except AssertionError as failed:
        print("FAILED", failed)
ranks = Ranks(2)
print("STORY", ranks.run(both_receive, may_fail=True).story())
print("STORY", ranks.run(dies, may_fail=True).story())
print("MEAN", list(ranks.run(mean)))
"""


def test_without_linux_processes_are_spawned_and_work():
    done = elsewhere.run("-c", HIDDEN)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "spawned, kept warm (a fork is not safe on macOS)\n"


@pytest.mark.slow  # processes that import torch, each for itself
@pytest.mark.parametrize("lab", list(course.LABS)[:3])
def test_a_whole_lab_is_checked(lab, tmp_path):
    report = tmp_path / "report.json"
    done = elsewhere.run("-m", "distlab", "check", f"solutions/{lab}", "--json", str(report))
    assert done.returncode == 0, done.stderr
    (submission,) = json.loads(report.read_text())["submissions"]
    found = {one["name"]: one["status"] for one in submission["exercises"]}
    assert found == dict.fromkeys(course.exercises(lab), "passed"), done.stdout


@pytest.mark.slow  # likewise
def test_in_a_notebook_a_hang_and_a_wrong_answer_are_explained_and_the_next_run_works(tmp_path):
    program = tmp_path / "answers.py"
    program.write_text(ANSWERS)
    done = elsewhere.run(str(program), cwd=ROOT / "labs" / LAB)
    said = done.stdout
    assert done.returncode == 0, done.stderr
    assert "FAILED exchange: deadlock" in said and "FAILED relay: wrong" in said, said
    assert "waits in send(dst=1)" in said, said
    assert "STORY" in said and "waits in recv(src=1)" in said, said
    assert "MEAN [0.5, 0.5]" in said, said


@pytest.mark.slow  # likewise
def test_a_script_runs_and_one_that_hangs_is_ended_with_its_explanation(tmp_path):
    answered, untouched = (ROOT / one / LAB / "send_receive.py" for one in ("solutions", "labs"))
    done = elsewhere.run("-m", "distlab", "run", str(answered), "--ranks", "2")
    assert done.returncode == 0, done.stderr
    assert "[rank 1] relay: rank 1 of 2 has [3.0]" in done.stdout
    done = elsewhere.run("-m", "distlab", "run", str(untouched), "--ranks", "2")
    assert done.returncode == 1
    assert "[rank 1] rank 1: TODO run_blocking: write it in the notebook" in done.stdout
    stuck = tmp_path / "stuck.py"
    stuck.write_text(
        "import torch, torch.distributed as dist\n"
        "dist.init_process_group('gloo')\n"
        "dist.recv(torch.zeros(1), 1 - dist.get_rank())\n"
    )
    done = elsewhere.run("-m", "distlab", "run", str(stuck), "--ranks", "2", "--timeout", "200")
    assert done.returncode == 1
    assert "rank 0 waits in recv(src=1)" in done.stderr, done.stderr


def test_info_tells_the_way_and_grading_is_refused_in_one_sentence():
    done = elsewhere.run("-m", "distlab", "info", cwd=ROOT)
    assert "processes   spawned, kept warm (a fork is not safe on macOS)\n" in done.stdout
    done = elsewhere.run("-m", "distlab", "grade", "01-message-passing", cwd=ROOT)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("distlab: grading needs Linux (a fork is not safe on macOS)")
