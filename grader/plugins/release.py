"""Labs are handed out with their due date and rules in the notebook's first cell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeReleaseAssignment

from distlab import course
from distlab.exchange.instructor import ReleaseAssignment
from grader import writing
from grader.policy import notice
from grader.policy import policy as policies
from grader.policy.policy import Policy


class _WithNotice:
    """Releasing, with the policy's notice."""

    coursedir: Any

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        super().do_copy(src, dest, log)  # type: ignore[misc]
        policy, lab = policies.current(), self.coursedir.assignment_id
        if policy.in_force and lab in course.LABS:
            put_notice(Path(dest), lab, policy)


class Release(_WithNotice, ExchangeReleaseAssignment):
    """nbgrader's releasing, to a folder."""


class ReleaseOverHTTP(_WithNotice, ReleaseAssignment):
    """The same, to the exchange's service."""


def put_notice(folder: Path, lab: str, policy: Policy) -> bool:
    """Have a lab that is handed out say what holds now; was that something else?"""
    path = folder / course.notebook_name(lab)
    if not path.exists():
        return False
    was = path.read_text("utf-8")
    content = json.loads(was)
    noticed = notice.put(content, policy, lab)
    if noticed == content:
        return False
    text = json.dumps(noticed, indent=1, ensure_ascii=False) + "\n"
    writing.whole(path, text, mode=path.stat().st_mode & 0o777)
    return True
