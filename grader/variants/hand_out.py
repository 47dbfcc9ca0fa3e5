"""Handing students their own visible inputs: a file each, which `check` reads.

On a machine with an exchange the files go beside nbgrader's `outbound`, where a Hub's servers find
them, so that nobody has to fetch anything; elsewhere they go beside the gradebook, and students put
theirs beside the notebook.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import os
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from distlab import course
from distlab.checking import own_inputs
from distlab.exchange import manifest as manifests
from distlab.processes import frameworks
from distlab.records import redaction
from grader import coursedir, secret, writing
from grader.coursedir import GradingFailed, NotGraded
from grader.judging.basis import variants_digest
from grader.judging.grade import NAME_HAS, named_well
from grader.judging.local import LocalJudges
from grader.plugins.exchanges import CourseExchange
from grader.policy import policy as policies
from grader.policy.commands import students
from grader.policy.roster import RosterFile
from grader.policy.rules import Policy, PolicyError
from grader.sandbox import NoSandbox
from grader.variants import references
from grader.variants import variant as variants

FOLDER = "own-inputs"
_Wanted = tuple[str, str, str]  # lab, student, which state of the course
LOOK_AGAIN = 60.0  # seconds until students and labs are looked through again
TRY_AGAIN = 3600.0  # seconds until what could not be made is tried again


def content(lab: str, student: str) -> str:
    """A student's file for a lab.

    Raises:
        NoReference: `LocalJudges.prepare` was not called before.
    """
    whose = variants.variant(lab, student)
    outputs = [
        (exercise, case, references.reference(whose, exercise, case))
        for exercise in course.exercises(lab).values()
        for case in variants.visible(whose, exercise)
    ]
    return own_inputs.packed(student, lab, _recorded(whose), outputs)


def course_exchange() -> CourseExchange:
    """The exchange that nbgrader's configuration names."""
    from grader.judging.grade import SUBMITTED
    from grader.plugins.gradebook import Gradebook  # nbgrader takes seconds to import

    return Gradebook(SUBMITTED).exchange


def default_folder(exchange: CourseExchange) -> Path:
    """Where files go: into the exchange, where the course has a folder there."""
    exchanged = exchange.folder
    if exchanged is None:
        return coursedir.GRADES / FOLDER
    there = os.access(exchanged, os.W_OK) or os.access(exchanged / FOLDER, os.W_OK)
    return exchanged / FOLDER if there else coursedir.GRADES / FOLDER


def place(to: Path, lab: str, student: str) -> Path:
    """Where a student's file lies below a folder."""
    return to / student / lab / own_inputs.NAME


def write(to: Path, lab: str, student: str) -> bool:
    """Write a student's file, whole or not at all; returns whether it was missing or different.

    Whoever knows a name can read that student's file, as a neighbour can look at a screen: it
    reveals nothing that is hidden. Nobody can list the names.
    """
    path, made = place(to, lab, student), content(lab, student)
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if path.read_text("utf-8") == made:
            return False
    with writing.reported(path):
        for folder in (to, path.parent.parent, path.parent):
            if not folder.exists():
                folder.mkdir(parents=True, exist_ok=True)
                folder.chmod(0o711)
    writing.whole(path, made, mode=0o644)
    return True


def hand_out(
    lab: str, chosen: Collection[str], to: Path, judges: LocalJudges,
    exchange: CourseExchange | None = None,
) -> Iterator[tuple[str, str]]:  # fmt: skip
    """Make the files of these students; yields each with the reason why they have none, or "".

    Args:
        exchange: gives them to the students.

    Raises:
        PolicyError: by the policy all students of this lab have the same inputs, or a name cannot
            be a student's.
        Missing: the lab needs a framework that is not installed.
        NoSandbox: none works.
    """
    if not variants.in_force(lab):
        raise PolicyError(
            f"all students have the same inputs in {lab}: write `variants: on` into "
            f"{policies.PATH.name} first"
        )
    for name in chosen:
        if not named_well(name):
            raise PolicyError(f"{redaction.shown(name)!r} cannot be a student's name: {NAME_HAS}")
    frameworks.need(*course.needs(lab), what=f"Lab {lab}")

    def made(student: str) -> str:
        try:
            judges.prepare(lab, student)
            write(to, lab, student)
            if exchange is not None:
                exchange.hand_out(student, lab, place(to, lab, student))
        except NoSandbox:
            raise
        except (NotGraded, GradingFailed, OSError) as error:
            return str(error)
        except Exception as error:  # the others go on
            return f"the grader failed on it ({type(error).__name__}: {error})"
        return ""

    with concurrent.futures.ThreadPoolExecutor(judges.slots) as pool:
        yield from zip(chosen, pool.map(made, chosen), strict=True)


class HandingOut:
    """Hands out released labs' inputs to all known students, to one at each call.

    Args:
        exchange: where they are handed out; what is made for a service is also kept beside the
            gradebook.
    """

    def __init__(self, exchange: CourseExchange, judges: LocalJudges) -> None:
        self._exchange = exchange
        self._to = (exchange.folder or coursedir.GRADES) / FOLDER
        self._judges = judges
        self._left: list[_Wanted] = []
        self._failed: dict[_Wanted, float] = {}  # when: the disk was full then, say
        self._seen: set[_Wanted] = set()  # there already: reading all of a class's takes long
        self._looked, self._policy = -LOOK_AGAIN, Policy()  # as of the last look

    def one(self) -> str:
        """Make one student's file, if one is missing; returns what there is to say of it.

        Raises:
            PolicyError: the policy cannot be read, or has changed; a later look tries again.
        """
        if not self._left and self._time_to_look():
            try:
                self._left = sorted(self._missing())
            except GradingFailed as error:
                return str(error)
        if not self._left:
            return ""
        lab, student, _ = wanted = self._left.pop(0)
        whose = f"{redaction.shown(student)} {lab}"
        ((_, problem),) = hand_out(lab, [student], self._to, self._judges)
        if problem:
            self._failed[wanted] = time.monotonic()
            return f"{whose}: no own inputs: {problem}"
        try:
            self._exchange.hand_out(student, lab, place(self._to, lab, student))
        except (GradingFailed, OSError) as error:
            return f"{whose}: {error}"  # the next look tries again
        return f"{whose}: own inputs handed out"

    def _time_to_look(self) -> bool:
        """Has it been long ago, or is another policy in force? Then everybody is looked through."""
        policy, now = policies.current(), time.monotonic()
        if now - self._looked <= LOOK_AGAIN and policy == self._policy:
            return False
        self._looked, self._policy = now, policy
        return True

    def _missing(self) -> Iterator[_Wanted]:
        given = self._exchange.own_inputs()
        for lab in filter(variants.in_force, course.LABS):
            if not self._exchange.is_released(lab) or course.missing(lab):
                continue
            course_now = variants_digest(lab, secret.current())
            for student in filter(named_well, students(RosterFile().read())):
                wanted = (lab, student, course_now)
                path = place(self._to, lab, student)
                if given is not None and path.exists() and given.get((student, lab)) != _sha(path):
                    yield wanted
                    continue
                if (wanted in self._seen and path.exists()) or self._rests(wanted):
                    continue
                if _has(self._to, lab, student):
                    self._seen.add(wanted)
                else:
                    yield wanted

    def _rests(self, wanted: _Wanted) -> bool:
        failed = self._failed.get(wanted)
        return failed is not None and time.monotonic() - failed < TRY_AGAIN


def _sha(path: Path) -> str:
    found = path.stat()
    return _digest(path, found.st_mtime_ns, found.st_size)


@functools.lru_cache(maxsize=10_000)
def _digest(path: Path, *state: int) -> str:
    """The digest of a file, computed once for each state of it."""
    return manifests.sha256(path)


def _has(to: Path, lab: str, student: str) -> bool:
    """Is there a file of the student's, made of the course as it is now?"""
    try:
        own = own_inputs.read(place(to, lab, student))
    except (OSError, own_inputs.NotYours):
        return False
    return own.reference.recorded == _recorded(variants.variant(lab, student))


def _recorded(whose: variants.Variant) -> dict[str, Any]:
    """What a file says of how it was made."""
    course_now = variants_digest(whose.lab, secret.current())
    return {"variant": whose.fingerprint, "course": course_now[:16]}


def warning() -> str:
    """What to say if anybody can compute everybody's inputs."""
    return f"with {secret.current().told()}" if secret.current().is_public else ""
