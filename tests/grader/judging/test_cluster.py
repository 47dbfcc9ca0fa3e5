"""`distlab grade --cluster`: the engines of a running ipyparallel cluster judge."""

import json
import os
import subprocess
import sys

import ipyparallel
import pytest
from ipyparallel.error import NoEnginesRegistered

from distlab import course
from grader import collected, coursedir, secret
from grader.coursedir import GradingFailed, NotGraded
from grader.judging import cluster as clusters
from grader.judging import demo
from grader.judging.cluster import Cluster

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
slow = pytest.mark.slow  # a stock cluster takes ten seconds to come up


@pytest.fixture
def cluster(tmp_path):
    """A stock ipyparallel cluster of two engines; yields its environment."""
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


@slow
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


@slow
def test_a_cluster_that_does_not_run_is_said_in_one_line(tmp_path):
    hand_in(tmp_path, ada=demo.handed_in("ada", LAB))
    done = grade(tmp_path, "--cluster", "nowhere")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "ipcluster start --profile=nowhere" in done.stderr


def remote(kind, said=""):
    return ipyparallel.RemoteError(kind, said, "", {})


class View:
    """Engines, or one: what it is asked to judge it answers with what comes next in `answers`."""

    def __init__(self, ids, answers):
        self._ids, self._answers = ids, answers

    def execute(self, code, block):
        assert block

    def apply_sync(self, function, *arguments):
        if function is clusters._ready:
            asked = self._answers.get("ready")
            if asked is not None:
                raise asked
            return [{"host": "here", "devices": [], "problem": ""} for _ in self._ids]
        (number,) = self._ids
        answer = self._answers[number].pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


class Client:
    """Stands for ipyparallel's: {engine: its answers}; some of them say that it is gone."""

    def __init__(self, answers):
        self.answers = answers

    def __getitem__(self, ids):
        if isinstance(ids, list):
            return View(ids, self.answers)
        if isinstance(self.answers[ids][0], (IndexError, NoEnginesRegistered)):
            raise self.answers[ids].pop(0)
        return View([ids], self.answers)


@pytest.fixture
def judges(monkeypatch):
    """`judges({engine: what it answers})`: a cluster of these."""
    monkeypatch.setattr(
        clusters,
        "answering",
        lambda client: sorted(one for one in client.answers if one != "ready"),
    )

    def made(answers):
        return Cluster(Client(answers), False, lambda: None)

    return made


@pytest.mark.parametrize(
    ("failure", "said"),
    [(remote("KeyError"), ipyparallel.RemoteError), (remote("NotGraded", "no user"), NotGraded),
     (remote("NoRoom", "/tmp is full"), NotGraded), (TypeError("of the answer"), TypeError)],
)  # fmt: skip
def test_an_engine_judges_the_next_submission_whatever_it_said_to_one(judges, failure, said):
    made = judges({0: [failure, []]})
    with pytest.raises(said):
        made.lines(LAB, None)
    made._engines.put_nowait(made._engines.get(timeout=10))  # it is there: nobody waits for ever
    assert made.lines(LAB, None) == []


@pytest.mark.parametrize(
    "gone", [remote("EngineError", "died"), IndexError("No such engine: 0"), NoEnginesRegistered()]
)
def test_an_engine_that_is_gone_when_it_is_asked_is_replaced_by_the_others(judges, gone):
    """It may have died while it had nothing to do: then the client knows no such engine."""
    made = judges({0: [gone], 1: [[]]})
    assert made.lines(LAB, None) == [] and made._left == 1
    made = judges({0: [gone]})
    with pytest.raises(GradingFailed, match="all engines of the cluster are gone"):
        made.lines(LAB, None)


def test_engines_without_the_courses_folder_are_told_in_one_line(judges):
    missing = remote("ModuleNotFoundError", "No module named 'grader'")
    with pytest.raises(GradingFailed, match=f"under {coursedir.ROOT}") as failed:
        judges({0: [], "ready": missing})
    assert "No module named 'grader'" in str(failed.value) and "\n" not in str(failed.value)


def test_what_another_grader_has_ended_on_an_engine_is_begun_again(monkeypatch):
    """Two instructors grade on one cluster, and one of them is done."""

    class Judging:
        def __init__(self, settings):
            self.closed = False

        def ready(self):
            pass

        def lines_on(self, *arguments):
            assert not self.closed
            return []

        def close(self):
            self.closed = True

    monkeypatch.setattr(clusters, "LocalJudges", Judging)
    monkeypatch.setattr(clusters, "_on_engine", None)
    monkeypatch.setattr(secret, "_used", None)
    asked = (False, None, secret.PUBLIC_SECRET.fingerprint)
    assert clusters._ready(*asked)["problem"] == ""
    clusters._end()
    assert clusters._lines(asked, LAB, None, [], None) == []
    with pytest.raises(NotGraded, match="another secret"):
        clusters._lines((False, None, "00000000"), LAB, None, [], None)
