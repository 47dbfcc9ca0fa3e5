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
    cases = coursedir.ROOT / "grader" / "cases"
    for path in (
        coursedir.LABS / lab / course.notebook_name(lab),
        coursedir.SOLUTIONS / lab / "reference.json",
        used.references / f"{lab}.json",
        *sorted(cases.glob("*.py")),
        *sorted((cases / course.package(lab)).rglob("*.py")),
        *sorted(Path(course.__file__).parents[1].rglob("*.py")),
    ):
        with contextlib.suppress(OSError):
            digest.update(path.read_bytes())
    return digest.hexdigest()


@functools.cache
def variants_digest(lab: str, used: secret.Secret) -> str:
    """The same where students have inputs of their own: the solution counts too, because the
    references are then its outputs.
    """
    solution = (coursedir.SOLUTIONS / lab / course.notebook_name(lab)).read_bytes()
    return hashlib.sha256(course_digest(lab, used).encode() + solution).hexdigest()
