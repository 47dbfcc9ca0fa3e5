"""What `distlab export` does."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from distlab import course
from distlab.cli.labs import named as lab_named
from distlab.records import redaction
from grader.export import canvas, long_form, moodle, points, sheet
from grader.export.made import Made
from grader.export.points import Result
from grader.export.sheet import Unusable, listed, shown
from grader.paths import GRADES
from grader.policy import policy as policies
from grader.policy.roster import RosterFile

_FROM = {
    "canvas": (canvas.make, canvas.KEYS, "a gradebook that Canvas exported"),
    "moodle": (
        moodle.make, moodle.KEYS,
        "a list of participants or a grader report that Moodle exported in English",
    ),
}  # fmt: skip


def export(
    system: str, labs: Sequence[str], columns: Sequence[str], keys: Sequence[str],
    roster: Path | None, out: Path | None, dry: bool = False,
) -> int:  # fmt: skip
    """Write the points of labs as another system imports them, or send them there; returns the exit
    status: 1 if some of them are missing.

    Args:
        system: canvas, moodle, csv or lti.
        labs: all that were graded, if none is named.
        columns: LAB=COLUMN of the other system's file.
        keys: further columns of it that identify a student.
        roster: the file that the other system exported.
        out: where to write.
        dry: by LTI, say what would be sent and send nothing.

    Raises:
        Unusable: a file or a word cannot be used.
        PolicyError: the policy cannot be read.
        PlatformFailed: by LTI, the platform is not there or refuses.
    """
    if dry and system != "lti":
        raise Unusable("--dry-run goes with --for lti: the others write a file and send nothing")
    if out and system == "lti":
        raise Unusable("--out does not go with --for lti, which writes no file")
    asked = list(dict.fromkeys(map(lab_named, labs)))
    named = _named(columns)
    results = points.read(GRADES / "gradebook.db", policies.current(), RosterFile().read())
    chosen, never = _chosen(asked, results)
    if strange := [lab for lab in named if lab not in chosen]:
        raise Unusable(f"--column names {listed(strange)}, of which nothing is exported")
    some = [one for one in results if one.lab in chosen]
    if system == "lti":
        sentences, complete = _sent(some, chosen, named, keys, roster, dry)
        print(redaction.visible("\n".join([*_about(some, never), *sentences])))
        return 0 if complete else 1
    path = (out or GRADES / "out" / f"{system}.csv").absolute()
    made = _made(system, some, chosen, named, keys, roster, path)
    sheet.write(path, made.sheet)
    for said in [*made.said, *_about(some, never)]:
        print(redaction.visible(said), file=sys.stderr)
    print(redaction.visible(f"{os.path.relpath(path)}: {_count(made, chosen)}"))
    return 0 if made.complete else 1


def _chosen(asked: Sequence[str], results: Sequence[Result]) -> tuple[list[str], list[str]]:
    """The labs that are exported, and those that were asked for (be it as all) and never graded."""
    graded = [lab for lab in course.LABS if any(one.lab == lab for one in results)]
    chosen = [lab for lab in asked or graded if lab in graded]
    if not chosen:
        raise Unusable(f"nothing was graded of {listed(asked) or 'any lab'} so far")
    return chosen, [lab for lab in asked or course.LABS if lab not in graded]


def _made(
    system: str, results: Sequence[Result], labs: Sequence[str], named: dict[str, str],
    keys: Sequence[str], roster: Path | None, out: Path,
) -> Made:  # fmt: skip
    if system not in _FROM:
        if roster or named or keys:
            raise Unusable("csv is made without another file: leave --roster and the like out")
        return long_form.make(results)
    make, known, what = _FROM[system]
    if roster is None:
        raise Unusable(f"--roster FILE is missing: {what}")
    if roster.absolute() == out or (out.exists() and roster.exists() and roster.samefile(out)):
        raise Unusable(f"{shown(out.name)} would be overwritten: name another file with --out")
    then = "; if another one has what students are known by, name it by --key"
    table = sheet.read(roster, (*known, *keys), what, then)
    if absent := [one for one in keys if not table.places(one)]:
        raise Unusable(f"{shown(roster.name)} has no column {listed(absent)}")
    return make(table, results, labs, named, keys, shown(roster.name))


def _sent(
    results: Sequence[Result], labs: Sequence[str], named: dict[str, str], keys: Sequence[str],
    roster: Path | None, dry: bool,
) -> tuple[list[str], bool]:  # fmt: skip
    try:
        from grader.export import lti
    except ImportError as error:
        raise Unusable(
            f"{error.name} is not installed, which LTI needs: pip install 'distlab[lti]'"
        ) from error
    return lti.export(lti.settings(), results, labs, named, keys, roster, GRADES / "lti.db", dry)


def _named(columns: Sequence[str]) -> dict[str, str]:
    named: dict[str, str] = {}
    for one in columns:
        lab, equals, column = one.partition("=")
        if not equals or not column.strip():
            raise Unusable(f'{shown(one)!r} names no column: write --column LAB="Lab 1 (1234)"')
        lab = lab_named(lab.strip())
        if lab in named:
            raise Unusable(f"--column names two columns for {lab}: leave one out")
        named[lab] = column.strip()
    return named


def _about(results: Sequence[Result], never: Sequence[str]) -> list[str]:
    """Sentences on what is not there yet."""
    said = []
    waiting: dict[str, list[str]] = {}
    for one in results:
        if one.waits:
            waiting.setdefault(one.lab, []).append(one.student)
    if waiting:
        named = [f"{lab} ({listed(students)})" for lab, students in waiting.items()]
        said.append(
            f"Points by hand are still to come, and what there is so far is exported: "
            f"{'; '.join(named)}."
        )
    if never:
        said.append(f"Never graded, and left out: {listed(never)}.")
    return said


def _count(made: Made, labs: Sequence[str]) -> str:
    rows, there = len(made.sheet.rows), [lab for lab in labs if lab not in made.without]
    return f"{rows} row{'s' if rows != 1 else ''}, {listed(there)}"
