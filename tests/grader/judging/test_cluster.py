"""`distlab grade --cluster`: the engines of a running ipyparallel cluster judge."""

import json
import os
import subprocess
import sys

import pytest

from distlab import course
from grader import collected, coursedir
from grader.judging import demo

LAB = "01-message-passing"
#: as when a node goes down while its engine judges
DIE_WHEN_JUDGING = """
import os
from grader.judging.local import LocalJudges

begin = LocalJudges._zygote

def begin_and_die(*args):
    begin(*args)
    os._exit(1)

LocalJudges._zygote = begin_and_die
"""
pytestmark = pytest.mark.slow  # a stock cluster takes ten seconds to come up


@pytest.fixture
def cluster(tmp_path):
    """A stock ipyparallel cluster of two engines; yields its environment."""
    import ipyparallel

    os.environ["IPYTHONDIR"] = str(tmp_path / "ipython")
    with ipyparallel.Cluster(n=2, profile="grading", cluster_id="", log_level=40) as client:
        client.wait_for_engines(2, timeout=120)
        yield client
    del os.environ["IPYTHONDIR"]


def grade(grades, *words):
    return subprocess.run(
        [sys.executable, "-m", "distlab", "grade", LAB, "--json", str(grades / "r.json"), *words],
        cwd=coursedir.ROOT, env={**os.environ, "DISTLAB_GRADES": str(grades)}, timeout=300,
        capture_output=True, text=True,
    )  # fmt: skip


def hand_in(grades, **contents):
    for student, content in contents.items():
        collected.hand_in(grades, student, LAB, content)


def test_engines_judge_and_a_lost_one_is_replaced_by_the_others(cluster, tmp_path):
    right = demo.handed_in("ada", LAB)
    kill = "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)"
    hand_in(
        tmp_path, ada=right, ben=demo.handed_in("ben", LAB),
        crash=collected.filled(right, relay="import os\nos._exit(1)"),
        kill=collected.filled(right, relay=kill),
    )  # fmt: skip
    lost = cluster.ids[0]
    cluster[lost].execute(DIE_WHEN_JUDGING, block=True)
    done = grade(tmp_path, "--cluster", "grading")
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    scores = {one["student"]: one["score"] for one in report["submissions"]}
    full = float(sum(e.points for e in course.exercises(LAB).values()))
    relay = float(course.exercises(LAB)["relay"].points)
    assert scores == {"ada": full, "ben": full, "crash": full - relay, "kill": full - relay}
    assert lost not in cluster.ids


def test_a_cluster_that_does_not_run_is_said_in_one_line(tmp_path):
    hand_in(tmp_path, ada=demo.handed_in("ada", LAB))
    done = grade(tmp_path, "--cluster", "nowhere")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "ipcluster start --profile=nowhere" in done.stderr
