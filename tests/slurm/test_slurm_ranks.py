"""Ranks and judges as a Slurm job over two nodes."""

import json

import pytest

from distlab import course
from grader import collected, coursedir
from grader.judging import demo

LAB = "01-message-passing"
PROGRAM = """
import os, signal, socket, sys
from distlab import Ranks, RunFailed

def add(rank, size):
    import torch, torch.distributed as dist
    tensor = torch.ones(1) * rank
    dist.all_reduce(tensor)
    return socket.gethostname(), tensor.item()

def hang(rank, size):
    import torch, torch.distributed as dist
    dist.recv(torch.zeros(1), 1 - rank)

if __name__ == "__main__":
    ranks = Ranks(2, cluster="slurm", deadline=240)
    print(list(ranks.run(add)), flush=True)
    if "die" in sys.argv:
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        ranks.run(hang)
    except RunFailed as failed:
        print(str(failed).splitlines()[0])
    print(list(ranks.run(add)))  # those that were killed are back
    client, number = ranks.client, ranks.client.ids[-1]
    client[number].apply_async(os._exit, 1)  # while nobody uses it
    while number in client.ids:
        os.sched_yield()
    print(list(ranks.run(add)))
    ranks.close()
"""
ADDED = "[('n1', 1.0), ('n2', 1.0)]"


def left(desk):
    """Files that ranks have left behind."""
    cache = desk.folder / "cache" / "distlab"
    return [*(cache.iterdir() if cache.exists() else ()), *desk.folder.glob("*.sbatch")]


def test_ranks_are_tasks_of_a_job_and_a_killed_one_is_back_on_its_node(desk):
    desk.write("ranks.py", PROGRAM)
    env = {"SBATCH_SPREAD_JOB": "1", "XDG_CACHE_HOME": str(desk.folder / "cache")}
    done = desk.run("python", "ranks.py", **env)
    assert done.returncode == 0, done.stderr
    first, hung, again, last = done.stdout.splitlines()
    assert first == again == last == ADDED
    assert "rank 0 waits in recv(src=1)" in hung
    assert "distlab: job" in done.stderr and "runs on n[1-2]" in done.stderr
    assert left(desk) == []
    assert wait_for_an_empty_queue(desk)


def test_ranks_end_with_a_notebook_that_is_killed(desk):
    desk.write("ranks.py", PROGRAM)
    env = {"SBATCH_SPREAD_JOB": "1", "XDG_CACHE_HOME": str(desk.folder / "cache")}
    done = desk.run("python", "ranks.py", "die", **env)
    assert done.stdout.splitlines() == [ADDED], done.stderr
    assert wait_for_an_empty_queue(desk)
    assert left(desk) == []


def wait_for_an_empty_queue(desk):
    import time

    deadline = time.monotonic() + 120
    while desk.run("squeue", "-h").stdout:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True


def graded(desk, name, **contents):
    """Hand in a class, and grade it on this machine and by Slurm; returns the two reports."""
    reports = []
    for where in ([], ["--cluster", "slurm"]):
        grades = desk.folder / f"{name}{len(where)}"
        for student, content in contents.items():
            collected.hand_in(grades, student, LAB, content)
        desk.own()
        done = desk.distlab(
            "grade", LAB, "--jobs", "2", "--json", grades / "r.json", *where,
            cwd=coursedir.ROOT, timeout=900, DISTLAB_GRADES=str(grades),
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        reports.append(json.loads((grades / "r.json").read_text()))
    assert "runs on n[1-2]" in done.stderr
    return reports


def test_grading_over_two_nodes_gives_the_scores_of_one(desk):
    right = demo.handed_in("ada", LAB)
    here, slurm = graded(
        desk, "grades", ada=right, ben=demo.handed_in("ben", LAB),
        crash=collected.filled(right, relay="import os\nos._exit(1)"),
    )  # fmt: skip
    said = [
        {one["student"]: [(e["name"], e["score"], e["status"]) for e in one["exercises"]]
         for one in report["submissions"]}
        for report in (here, slurm)
    ]  # fmt: skip
    assert said[0] == said[1]
    full = float(sum(e.points for e in course.exercises(LAB).values()))
    scores = {one["student"]: one["score"] for one in slurm["submissions"]}
    assert scores["ada"] == scores["ben"] == full and scores["crash"] < full
    assert wait_for_an_empty_queue(desk)


@pytest.mark.slow  # records a whole lab twice
def test_references_are_recorded_on_the_gpu_partition(desk):
    desk.take(*(coursedir.ROOT / name for name in ("grader", "solutions", "labs", "deploy")))
    desk.take(coursedir.ROOT / "nbgrader_config.py")
    done = desk.distlab("submit", "deploy/slurm/record.sbatch", LAB, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "GPUs 0,1 of n1" in done.stdout and f"{LAB}: " in done.stdout
    verified = desk.distlab("reference", "verify", LAB, timeout=900)
    assert f"{LAB}: as recorded" in verified.stdout
    assert wait_for_an_empty_queue(desk)


@pytest.mark.slow  # grades four submissions by Slurm
def test_what_a_class_costs_on_engines_of_two_nodes_is_measured(cluster):
    from bench import engines

    took = engines.grade(cluster, "measured", 4, "--cluster", "slurm", "--jobs", "2")
    assert 0 < took.head < took.machine and took.clock > 0
    report = cluster.run("ls", "measured/feedback")
    assert report.stdout.split() == [f"s{number:03}" for number in range(4)], report.stderr
