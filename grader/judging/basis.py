"""What verdicts on a lab depend on besides the submission."""

from __future__ import annotations

import contextlib
import functools
import hashlib
from pathlib import Path

from distlab import course
from grader import coursedir, secret


@functools.cache
def course_digest(lab: str, used: secret.Secret) -> str:
    """Changes when the released notebook, the secret, the cases, the references or the judging
    change.
    """
    digest = hashlib.sha256(used.fingerprint.encode())
    module = course.package(lab)
    for path in (
        coursedir.LABS / lab / course.notebook_name(lab),
        coursedir.SOLUTIONS / lab / "reference.json",
        used.references / f"{lab}.json",
        *sorted((coursedir.ROOT / "grader" / "cases" / module).rglob("*.py")),
        *sorted(Path(course.__file__).parents[1].rglob("*.py")),
    ):
        with contextlib.suppress(OSError):
            digest.update(path.read_bytes())
    return digest.hexdigest()


@functools.cache
def variants_digest(lab: str, used: secret.Secret) -> str:
    """The same where students have inputs of their own: the solution, whose outputs the references
    then are, counts too.
    """
    solution = (coursedir.SOLUTIONS / lab / course.notebook_name(lab)).read_bytes()
    return hashlib.sha256(course_digest(lab, used).encode() + solution).hexdigest()
