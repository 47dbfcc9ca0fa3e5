"""Those who judge: this process, or the engines of a cluster.

A judge runs the exercises of one submission in its sandbox and says how each was answered. The
ledger, the gradebook and the order of things are the main process's business.
"""

from __future__ import annotations

import contextlib
from typing import Protocol

from distlab.checking.submission import Plan
from distlab.engines.ranks import SLURM
from grader.judging.ledger import Line
from grader.judging.local import LocalJudges
from grader.sandbox import configured
from grader.sandbox.ahead import Ahead


class Judges(Protocol):
    """Judges submissions for as many threads at once as it has `slots`."""

    slots: int

    def expect(self, lab: str) -> None:
        """Submissions of this lab will come as soon as they have been read."""

    def beside(self) -> contextlib.AbstractContextManager[None]:
        """Held by whoever does other work on the machine of these judges."""

    def lines(self, lab: str, plan: Plan, whose: str | None = None, lanes: int = 1) -> list[Line]:
        """The verdicts on a submission.

        Args:
            whose: the student by whose own inputs it is judged, where students have such.
            lanes: how many slots it may take up; more than one where submissions are fewer.

        Raises:
            NotGraded: it cannot be judged, through no fault of its own.
        """

    def close(self) -> None:
        """Judge no more. May be called from any thread, and more than once."""


def make_judges(jobs: int, cluster: str | None = None, ahead: Ahead | None = None) -> Judges:
    """Who judges a class: `jobs` at once on this machine, or the engines of a cluster.

    Args:
        ahead: as `LocalJudges` takes it.
        cluster: the ipyparallel profile whose engines judge, one submission an engine, or "slurm"
            for `jobs` engines that are a Slurm job.

    Raises:
        NoSandbox: no sandbox works, and nobody has said that the code can be trusted.
        GradingFailed: there is no such cluster, or nothing can be judged on its engines.
        SlurmFailed: Slurm is not here, refuses, or ended the job.
    """
    if cluster is None:
        return local_judges(jobs, ahead)
    from grader.judging.cluster import attached, submitted  # ipyparallel

    settings = configured()
    if cluster == SLURM:
        return submitted(jobs, settings.trust)
    return attached(cluster, settings.trust)


def local_judges(jobs: int, ahead: Ahead | None = None) -> LocalJudges:
    """`jobs` at once on this machine.

    Raises:
        NoSandbox: no sandbox works, and nobody has said that the code can be trusted.
    """
    local = LocalJudges(configured(), jobs, ahead)
    local.ready()
    return local
