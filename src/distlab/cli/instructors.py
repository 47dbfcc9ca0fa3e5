"""The commands of those who teach, which need the course's folder."""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from distlab.cli.parts import Mistaken, command, count, enter_course, folder, output, write_json

if TYPE_CHECKING:
    from distlab.cli.parts import Commands
    from grader.sandbox.ahead import Ahead


def add(commands: Commands) -> None:
    """Add them to the parser."""
    _add_grade(commands)
    _add_policy(commands)
    _add_variants(commands)
    _add_likeness(commands)
    _add_export(commands)
    _add_reference(commands)
    _add_secret(commands)
    _add_new(commands)
    _add_lint(commands)


def _add_grade(commands: Commands) -> None:
    parser = command(
        commands, "grade", grade, "Grade submissions into nbgrader's gradebook, with feedback.",
        "grade 01-message-passing --jobs 4 --json report.json",
    )  # fmt: skip
    parser.add_argument(
        "assignment", nargs="*", metavar="LAB", help="labs (default: all that were submitted)"
    )
    parser.add_argument("--submitted", type=Path, metavar="DIR", help="where the submissions lie")
    parser.add_argument(
        "--student", action="append", metavar="ID", help="only this student's; may be repeated"
    )
    parser.add_argument(
        "--jobs", type=count, metavar="N", help="submissions at once (default: twice the cores)"
    )
    parser.add_argument(
        "--cluster", metavar="PROFILE",
        help="judge on the engines of this ipyparallel cluster, one submission an engine, or with "
        "`slurm` on --jobs engines of a Slurm job",
    )  # fmt: skip
    parser.add_argument("--json", type=output, metavar="FILE", help="write the report there")
    parser.add_argument("--demo", action="store_true", help="hand in the demonstration class first")
    parser.add_argument(
        "--watch",
        action="store_true",
        help="grade what arrives in nbgrader's exchange, and release feedback, until interrupted",
    )
    parser.add_argument(
        "--trust", action="store_true",
        help="run the code without a sandbox: for one's own notebooks, never for strangers'",
    )  # fmt: skip


def grade(arguments: argparse.Namespace) -> int:
    from distlab.processes.starting import refuse_elsewhere

    refuse_elsewhere("grading")
    if arguments.watch:
        _only_jobs(arguments)
    enter_course()
    if arguments.trust:
        os.environ["DISTLAB_TRUST"] = "1"  # nbgrader's own steps ask for it too
    # imports make half a million objects that stay: looking for garbage among them as often as
    # usual takes a tenth of the time of the imports
    gc.set_threshold(50_000, 20, 20)
    with _ahead(arguments) as ahead:
        from grader import commands  # takes as long as it takes to try the sandbox out

        if arguments.watch:
            commands.watch(arguments.jobs, ahead)
        else:
            reports = commands.grade(
                arguments.assignment, arguments.submitted, arguments.student, arguments.jobs,
                arguments.demo, arguments.cluster, ahead,
            )  # fmt: skip
    if arguments.watch:  # has returned: the course has changed
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    if arguments.json:
        write_json(arguments.json, reports[0] if len(reports) == 1 else reports)
    every = [one for report in reports for one in report["submissions"]]
    return 1 if any(one["score"] is None or "problem" in one for one in every) else 0


def _only_jobs(arguments: argparse.Namespace) -> None:
    """Make sure that nothing is asked for that --watch would ignore.

    Raises:
        Mistaken: something is.
    """
    names = ("submitted", "student", "cluster", "json", "demo")
    ignored = [*arguments.assignment, *(f"--{name}" for name in names if vars(arguments)[name])]
    if ignored:
        raise Mistaken(
            "--watch grades all that arrives in nbgrader's exchange: leave out "
            + " and ".join(ignored)
        )


@contextlib.contextmanager
def _ahead(arguments: argparse.Namespace) -> Iterator[Ahead | None]:
    """The sandbox, already being started; `None` where the engines of a cluster judge, each in a
    sandbox of its own.
    """
    if arguments.cluster and not arguments.watch:
        yield None
        return
    from distlab.cli import labs
    from grader.judging import due
    from grader.paths import GRADES
    from grader.sandbox.ahead import Ahead

    def wanted() -> tuple[str, ...] | None:
        if arguments.watch or arguments.demo:
            return ()  # most labs need no module besides torch
        assignments = [labs.named(name) for name in arguments.assignment]
        submitted = arguments.submitted or GRADES / "submitted"
        return due.modules(assignments, submitted, arguments.student)

    with contextlib.closing(Ahead(wanted)) as ahead:
        yield ahead


def _add_policy(commands: Commands) -> None:
    parser = command(
        commands, "policy", policy,
        "Print what policy.yaml, extensions and groups say: due dates, penalties, attempts.",
        "policy 01-message-passing",
    )  # fmt: skip
    parser.add_argument("labs", nargs="*", metavar="LAB", help="labs (default: all)")
    parser = command(
        commands, "extend", policy, "Give a student more time for a lab, or take it back.",
        "extend ada 01-message-passing 3d",
    )  # fmt: skip
    parser.usage = "distlab extend [-h] STUDENT LAB TIME [--new]"
    parser.add_argument("student", metavar="STUDENT")
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument(
        "words", nargs=argparse.REMAINDER, metavar="TIME [--new]",
        help="3d, 12h, 2026-11-05, '2026-11-05 18:00', or none; --new: the student is not known "
        "yet",
    )  # fmt: skip
    parser = command(
        commands, "group", policy,
        "Put students into a group: what one of them hands in last counts for all. One name alone "
        "leaves its group.",
        "group 01-message-passing ada ben",
    )  # fmt: skip
    parser.usage = "distlab group [-h] LAB STUDENT [STUDENT ...] [--new]"
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument(
        "words", nargs=argparse.REMAINDER, metavar="STUDENT ... [--new]",
        help="--new: a student is not known yet",
    )  # fmt: skip
    parser = command(
        commands, "recompute", policy,
        "Bring gradebook and feedback pages up to date with the policy; no submission is run.",
        "recompute",
    )  # fmt: skip
    parser.add_argument("labs", nargs="*", metavar="LAB", help="labs (default: all)")
    for name in ("policy", "extend", "group", "recompute"):
        commands.choices[name].set_defaults(does=name)


def policy(arguments: argparse.Namespace) -> int:
    enter_course()
    from grader.policy import commands

    if arguments.does == "extend":
        return commands.extend(arguments.student, arguments.lab, arguments.words)
    if arguments.does == "group":
        return commands.group(arguments.lab, arguments.words)
    if arguments.does == "recompute":
        return commands.recompute(arguments.labs)
    return commands.show(arguments.labs)


def _add_variants(commands: Commands) -> None:
    parser = command(
        commands, "variants", variants,
        "Hand students their own visible inputs of a lab, where policy.yaml says `variants: on`.",
        "variants hand-out 01-message-passing ada ben",
    )  # fmt: skip
    parser.add_argument("action", choices=("hand-out",), metavar="hand-out")
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument("students", nargs="*", metavar="STUDENT", help="(default: all known ones)")
    parser.add_argument("--names", type=Path, metavar="FILE", help="more students, one a line")
    parser.add_argument(
        "--to", type=Path, metavar="DIR",
        help="where to (default: the exchange, or own-inputs beside the gradebook)",
    )  # fmt: skip
    parser.add_argument("--jobs", type=count, default=2, metavar="N", help="students at once")


def variants(arguments: argparse.Namespace) -> int:
    enter_course()
    from grader.variants import commands

    return commands.run(
        arguments.lab, arguments.students, arguments.names, arguments.to, arguments.jobs
    )


def _add_likeness(commands: Commands) -> None:
    parser = command(
        commands, "likeness", likeness,
        "Sort pairs of graded submissions that are alike beyond what the class explains, and say "
        "why.",
        "likeness 01-message-passing",
    )  # fmt: skip
    parser.add_argument("assignment", metavar="LAB")
    parser.add_argument("--submitted", type=folder, metavar="DIR", help="where the submissions lie")


def likeness(arguments: argparse.Namespace) -> int:
    enter_course()
    from grader.commands import likeness as sort_pairs

    return sort_pairs(arguments.assignment, arguments.submitted)


def _add_export(commands: Commands) -> None:
    parser = command(
        commands, "export", export,
        "Write the points that the gradebook has, late penalties taken off, as Canvas or Moodle "
        "import them, or all there is as CSV, or send them to a platform by LTI 1.3. What cannot "
        "be matched is listed, and the exit status is 1 if points are missing there.",
        "export --for canvas --roster Grades-Course.csv "
        '--column 01-message-passing="Lab 1 (1234)"',
    )  # fmt: skip
    parser.add_argument(
        "--for", dest="system", required=True, choices=("canvas", "moodle", "csv", "lti")
    )
    parser.add_argument(
        "--roster", type=Path, metavar="FILE",
        help="what the other system exported: Canvas's gradebook, Moodle's participants or grader "
        "report; for lti student and user_id, where the platform does not tell its members",
    )  # fmt: skip
    parser.add_argument(
        "--lab", nargs="+", action="extend", default=[], metavar="LAB",
        help="labs (default: all that were graded)",
    )  # fmt: skip
    parser.add_argument(
        "--column", action="append", default=[], metavar="LAB=COLUMN",
        help="the lab's column in FILE, or by lti its line item, where it is not called as the "
        "lab is; once for each",
    )  # fmt: skip
    parser.add_argument(
        "--key", action="append", default=[], metavar="COLUMN",
        help="another column of FILE that has the names that students have here",
    )  # fmt: skip
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="where to write (default: grader/out/SYSTEM.csv)"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="lti: say what would be sent, and send nothing"
    )


def export(arguments: argparse.Namespace) -> int:
    enter_course()
    from grader.export import commands

    return commands.export(
        arguments.system, arguments.lab, arguments.column, arguments.key, arguments.roster,
        arguments.out, arguments.dry_run,
    )  # fmt: skip


def _add_reference(commands: Commands) -> None:
    parser = command(
        commands, "reference", reference, "Record or verify the reference solutions' outputs.",
        "reference verify 01-message-passing",
    )  # fmt: skip
    parser.add_argument("action", choices=("record", "verify"), metavar="record|verify")
    parser.add_argument(
        "assignment", nargs="*", metavar="LAB [EXERCISE]",
        help="labs, each whole or one exercise of it (default: all)",
    )  # fmt: skip


def reference(arguments: argparse.Namespace) -> int:
    from distlab.processes.starting import refuse_elsewhere

    refuse_elsewhere("running the reference solutions")
    enter_course()
    from grader import commands

    return commands.reference(arguments.action, arguments.assignment)


def _add_secret(commands: Commands) -> None:
    parser = command(
        commands, "secret", secret,
        "Make a secret of the course's own, from which the inputs of hidden cases come, and record "
        "their reference outputs (minutes).",
        "secret new",
    )  # fmt: skip
    parser.add_argument("action", choices=("new",), metavar="new")
    parser.add_argument(
        "assignment", nargs="*", metavar="LAB", help="to record now (default: all that run here)"
    )
    parser.add_argument(
        "--file", type=Path, metavar="FILE",
        help="where it is kept, outside of the repository (default: what DISTLAB_SECRET or "
        "c.Grading.secret names, else ~/.local/share/distlab/secret)",
    )  # fmt: skip
    parser.add_argument(
        "--force", action="store_true",
        help="also if there is one already: what was graded with that one is then stale",
    )  # fmt: skip


def secret(arguments: argparse.Namespace) -> int:
    enter_course()
    from grader.commands import new_secret

    return new_secret(arguments.assignment, arguments.file, arguments.force)


def _add_new(commands: Commands) -> None:
    parser = command(
        commands, "new", new, "Begin a lab or an exercise: everything that has to be there.",
        "new exercise 01-message-passing swap_halves",
    )  # fmt: skip
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="lab|exercise")
    lab = kinds.add_parser("lab", help="begin a lab")
    lab.add_argument("lab", metavar="NN-NAME", help="as 12-fast-links")
    exercise = kinds.add_parser("exercise", help="begin an exercise of a lab")
    exercise.add_argument("lab", metavar="LAB")
    exercise.add_argument("name", metavar="NAME", help="the function's, as ring_all_reduce")
    for kind in (lab, exercise):
        kind.set_defaults(parser=kind)


def new(arguments: argparse.Namespace) -> int:
    enter_course()
    from grader import commands

    if arguments.kind == "lab":
        return commands.new_lab(arguments.lab)
    return commands.new_exercise(arguments.lab, arguments.name)


def _add_lint(commands: Commands) -> None:
    parser = command(
        commands, "lint", lint, "Say what a lab lacks and what does not fit, a sentence each.",
        "lint 01-message-passing",
    )  # fmt: skip
    parser.add_argument(
        "assignment", nargs="*", metavar="LAB [EXERCISE]",
        help="labs, each whole or one exercise of it (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--hints", action="store_true", help="also name hints that no collected answer gets"
    )


def lint(arguments: argparse.Namespace) -> int:
    enter_course()
    from grader import commands

    return commands.lint(arguments.assignment, arguments.hints)
