"""What `distlab policy`, `extend`, `group` and `recompute` do."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator

from distlab import course
from distlab.cli import labs
from distlab.records import redaction
from grader.judging import grade
from grader.paths import GRADES
from grader.policy import policy as policies
from grader.policy import reading, telling
from grader.policy.roster import MOST_MEMBERS, Extension, Roster, RosterFile
from grader.policy.rules import Policy, PolicyError

NEW = "--new"  # allows names of students who are not known yet


def show(chosen: list[str]) -> int:
    """Print what is in force; returns the exit status, as all of these do."""
    asked = [labs.named(name) for name in chosen] or list(course.LABS)
    policy, roster = policies.current(), RosterFile().read()
    if not policy.in_force:
        without = f"There is no {policies.PATH}"
        if policies.PATH == policies.NOWHERE:
            without = f"{policies.VARIABLE}={policies.NONE}"
        print(
            f"{without}: no due dates, nothing is taken off, no limit on attempts. Copy "
            "policy.example.yaml to begin with."
        )
    else:
        print(f"{policies.PATH}, times in {policy.zone.key}")
    for lab in asked:
        said = [*telling.rules(policy, lab), *_granted(policy, roster, lab)]
        if release := policy.lab(lab).release:
            said.insert(0, f"Released: {policy.shown(release)}.")
        if said:
            print(lab)
            for one in said:
                print(f"  {redaction.visible(one)}")
    return 0


def _granted(policy: Policy, roster: Roster, lab: str) -> Iterator[str]:
    """The extensions and groups of a lab, a sentence each."""
    for group in roster.groups.get(lab, ()):
        yield f"Group: {', '.join(group)}."
    for student in roster.extensions.get(lab, {}):
        due = roster.due(policy, lab, student)
        yield f"Extension: {student}, due {policy.shown(due) if due else 'when it has a due date'}."


def extend(student: str, lab: str, words: list[str]) -> int:
    """Give a student an extension for a lab, in place of an earlier one, and recompute."""
    policy, lab = policies.current(), labs.named(lab)
    said = " ".join(word for word in words if word != NEW).strip()
    extension = _extension(said, policy, lab)
    with RosterFile().changing() as held:
        _known([student], held[0], NEW in words)
        held[0] = held[0].extend(lab, student, extension)
        due, members = held[0].due(policy, lab, student), held[0].members(lab, student)
    name = redaction.shown(student)
    shown = (
        f"{name}'s {lab} is due {policy.shown(due)}" if due else f"{name}'s {lab} has no due date"
    )
    print(f"{shown}.")
    return _recompute([lab], members)


def _extension(said: str, policy: Policy, lab: str) -> Extension | None:
    if said == "none":
        return None
    due = policy.lab(lab).due
    if due is None:
        raise PolicyError(
            f"{lab} has no due date that could be extended: write one into {policies.PATH.name}"
        )
    try:
        if not said[:1].isdigit():
            raise reading.Wrong("only forward")
        if "-" not in said:
            longer = reading.duration(said)
            if not longer:
                raise reading.Wrong("no time at all")
            return Extension(longer)
        until = reading.moment(said, policy.zone, last=True)
    except reading.Wrong as error:
        raise PolicyError(
            f"{said!r} is no extension ({error}): write 3d, 12h, 2026-11-05, '2026-11-05 18:00', "
            "or none to take one back"
        ) from error
    if until <= due:
        raise PolicyError(
            f"{said} is not after the due date, {policy.shown(due)}: write a later one"
        )
    return Extension(until=until)


def group(lab: str, words: list[str]) -> int:
    """Put students into one group for a lab, out of those that they were in, and recompute."""
    policy, lab = policies.current(), labs.named(lab)
    members = tuple(dict.fromkeys(word for word in words if word != NEW))
    most = policy.lab(lab).largest_group or MOST_MEMBERS
    if not members:
        raise PolicyError(f"who? write distlab group {lab} ada ben, or one name to work alone")
    if len(members) > most:
        raise PolicyError(f"a group for {lab} has at most {most} members, these are {len(members)}")
    with RosterFile().changing() as held:
        _known(members, held[0], NEW in words)
        concerned = {name for one in members for name in held[0].members(lab, one)}
        held[0] = held[0].group(lab, members)
    names = [redaction.shown(name) for name in sorted(members)]
    how = "hand in together" if len(names) > 1 else "hands in alone"
    print(f"{', '.join(names)}: {how} for {lab}.")
    return _recompute([lab], {*concerned, *members})


def recompute(chosen: list[str]) -> int:
    """Bring gradebook and pages up to date with the policy."""
    policies.current()
    return _recompute([labs.named(name) for name in chosen])


def _recompute(chosen: list[str], students: Collection[str] | None = None) -> int:
    if not (GRADES / "gradebook.db").exists():
        print("Nothing was graded yet.")
        return 0
    from grader.policy.recompute import Recomputing  # nbgrader takes seconds to import

    with _locked("what was said is kept: say `distlab recompute` when nobody else writes it"):
        written, problems = Recomputing().all(chosen, students)
    print(f"{telling.counted(written, 'feedback page')} written anew.")
    for problem in problems:
        print(redaction.visible(problem))
    return 1 if problems else 0


@contextlib.contextmanager
def _locked(then: str) -> Iterator[None]:
    """Say in one line that somebody else writes the gradebook."""
    from grader.plugins.gradebook import GradebookBusy

    try:
        yield
    except GradebookBusy as error:
        raise PolicyError(f"{error}: {then}") from error


def _known(named: Iterable[str], roster: Roster, new: bool) -> None:
    """Raises:
    PolicyError: a name is no student's.
    """
    known = students(roster)
    for name in named:
        if not grade.named_well(name):
            raise PolicyError(
                f"{redaction.shown(name)!r} cannot be a student's name: {grade.NAME_HAS}"
            )
        if name not in known and not new:
            like = reading.nearest(name, known)  # a question, where there is any
            raise PolicyError(
                f"there is no student {name!r}{like or '.'} Whoever has handed in nothing so far "
                f"is added with {NEW}"
            )


def students(roster: Roster) -> set[str]:
    """Everybody who has handed something in, is in the gradebook, or was granted something."""
    known = {folder.parent.name for folder in grade.SUBMITTED.glob("[!.]*/*")}
    known |= {name for some in roster.extensions.values() for name in some}
    known |= {name for some in roster.groups.values() for one in some for name in one}
    if (GRADES / "gradebook.db").exists():
        from grader.plugins.gradebook import Gradebook

        again = _locked("nothing is changed: say it again when nobody else writes it")
        with again, Gradebook(grade.SUBMITTED).database() as database:
            known |= {student.id for student in database.students}
    return known
