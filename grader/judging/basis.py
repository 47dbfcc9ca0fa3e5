"""What verdicts on a lab depend on besides the submission.

Digests hold for the course as it was when this process began. What it judges by it reads later, at
several moments: if the course changes meanwhile (`git pull`), a verdict may come of both states.
Under the earlier digest it is stale for every process that begins afterwards.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from distlab import course
from grader import coursedir, secret


@functools.cache
def course_digest(lab: str, used: secret.Secret) -> str:
    """Changes when the released notebook, the secret, the cases, the references or the judging
    change.
    """
    return _of_course(lab, used, _judging())


@functools.cache
def variants_digest(lab: str, used: secret.Secret) -> str:
    """The same where students have inputs of their own: the solution counts too, because the
    references are then its outputs.
    """
    return _with_solution(lab, course_digest(lab, used))


def begin(labs: Iterable[str]) -> None:
    """Take the digests of these labs, before anything is judged."""
    _booking()
    for lab in labs:
        variants_digest(lab, secret.current())


def changed(labs: Iterable[str]) -> bool:
    """Is any of these labs on the disk, or the code that grades, another than when this process
    began?
    """
    labs, used = list(labs), secret.current()
    return on_disk(labs) != [_booking(), *(variants_digest(lab, used) for lab in labs)]


def on_disk(labs: Iterable[str]) -> list[str]:
    """The digests of the code that grades and of these labs as they are now."""
    used, judging = secret.current(), _judging.__wrapped__()
    of_labs = [_with_solution(lab, _of_course(lab, used, judging)) for lab in labs]
    return [_booking.__wrapped__(), *of_labs]


@functools.cache
def _judging() -> str:
    """A digest of the code that judges."""
    return _digest(sorted(Path(course.__file__).parents[1].rglob("*.py")))


@functools.cache
def _booking() -> str:
    """A digest of what makes points and pages of verdicts, which themselves do not depend on it."""
    package = coursedir.ROOT / "grader"
    templates = sorted((package / "reports" / "templates").rglob("*.*"))  # read for each page
    return _digest([*_modules(package), *templates])


def _modules(package: Path) -> Iterator[Path]:
    """The files of a package; beside its packages there can be folders of anybody's."""
    yield from sorted(package.glob("*.py"))
    for within in sorted(package.glob("*/__init__.py")):
        yield from _modules(within.parent)


def _of_course(lab: str, used: secret.Secret, judging: str) -> str:
    cases = coursedir.ROOT / "grader" / "cases"
    paths = (
        coursedir.LABS / lab / course.notebook_name(lab),
        coursedir.SOLUTIONS / lab / "reference.json",
        used.references / f"{lab}.json",
        *sorted(cases.glob("*.py")),
        *sorted((cases / course.package(lab)).rglob("*.py")),
    )
    return _digest(paths, used.fingerprint + judging)


def _with_solution(lab: str, digest: str) -> str:
    return _digest([coursedir.SOLUTIONS / lab / course.notebook_name(lab)], digest)


def _digest(paths: Iterable[Path], begin: str = "") -> str:
    digest = hashlib.sha256(begin.encode())
    for path in paths:
        with contextlib.suppress(OSError):
            content = path.read_bytes()
            digest.update(f"{path.name} {len(content)} ".encode() + content)
    return digest.hexdigest()
