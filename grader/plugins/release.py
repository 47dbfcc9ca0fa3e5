"""nbgrader's releasing: of labs, with due date and rules in the notebook's first cell, and of
feedback, to those who have handed in through the exchange.
"""

from __future__ import annotations

import glob
import json
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeReleaseAssignment, ExchangeReleaseFeedback

from distlab import course
from distlab.exchange.instructor import ReleaseAssignment
from grader import writing
from grader.coursedir import GradingFailed
from grader.policy import notice
from grader.policy import policy as policies
from grader.policy.rules import Policy


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


class ReleaseFeedback(ExchangeReleaseFeedback):
    """nbgrader's releasing of feedback, for the pages that students can fetch: those of submissions
    with a time and a secret, which the exchange has given them.
    """

    src_path: str

    def copy_files(self) -> None:
        """One student at a time: one whose page cannot be released does not hold up the others.

        Raises:
            ExchangeError: none could be released.
        """
        pattern, folders = self.src_path, sorted(map(Path, glob.glob(self.src_path)))
        ready = [folder for folder in folders if _can_be_fetched(folder)]
        for folder in ready:
            self.src_path = glob.escape(str(folder))
            super().copy_files()
        self.src_path = pattern
        if left := [folder.parent.name for folder in folders if folder not in ready]:
            said = (
                f"{self.coursedir.assignment_id} of {', '.join(left)} was not handed in through "
                "the exchange, where nobody could fetch its feedback: send the page yourself"
            )
            if not ready:
                self.fail(said)
            self.log.warning(said)


def _can_be_fetched(folder: Path) -> bool:
    names = ("timestamp.txt", "submission_secret.txt")
    return all((folder / name).is_file() and (folder / name).stat().st_size for name in names)


def put_notice(folder: Path, lab: str, policy: Policy) -> bool:
    """Have the notebook that is handed out say what holds now; did it say something else?

    Raises:
        GradingFailed: what lies there is no notebook, or cannot be replaced.
    """
    path = folder / course.notebook_name(lab)
    if not path.exists():
        return False
    try:
        content = json.loads(path.read_text("utf-8"))
        noticed = notice.put(content, policy, lab)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise GradingFailed(
            f"{path.name} is no notebook as it is handed out ({type(error).__name__}): release "
            f"{lab} again"
        ) from error
    if noticed == content:
        return False
    text = json.dumps(noticed, indent=1, ensure_ascii=False) + "\n"
    writing.whole(path, text, mode=path.stat().st_mode & 0o777)
    return True
