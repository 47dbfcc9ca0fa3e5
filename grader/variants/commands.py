"""What `distlab variants hand-out` does."""

from __future__ import annotations

import contextlib
from pathlib import Path

from distlab.cli import labs
from distlab.records import redaction
from grader.judging.judges import local_judges
from grader.policy.commands import students
from grader.policy.roster import RosterFile
from grader.policy.rules import PolicyError
from grader.variants.hand_out import course_exchange, default_folder, hand_out, warning


def run(lab: str, names: list[str], listed: Path | None, to: Path | None, jobs: int) -> int:
    """Write the files of these students, or of all known ones; returns the exit status: 1 if one of
    them could not be made.
    """
    lab = labs.named(lab)
    chosen = list(dict.fromkeys([*names, *(_listed(listed) if listed else ())]))
    chosen = chosen or sorted(students(RosterFile().read()))
    if not chosen:
        raise PolicyError(
            f"whose? nobody is known yet: write distlab variants hand-out {lab} ada ben, or "
            "--names FILE with a name a line"
        )
    exchange = None if to else course_exchange()
    folder = default_folder(exchange) if exchange else Path(to or "").absolute()
    if said := warning():
        print(said)
    failed = 0
    with contextlib.closing(local_judges(jobs)) as judges:
        for student, problem in hand_out(lab, chosen, folder, judges, exchange):
            if problem:
                failed += 1
                print(f"{redaction.shown(student)}: {redaction.visible(problem)}", flush=True)
    print(f"{lab}: {len(chosen) - failed} of {len(chosen)} files are below {folder}")
    return 1 if failed else 0


def _listed(path: Path) -> list[str]:
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise PolicyError(
            f"{path} cannot be read ({type(error).__name__}): name a text file, a student a line"
        ) from error
    return [line.strip() for line in text.splitlines() if line.strip()]
