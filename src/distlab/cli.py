"""The command line. What a command does not need it does not import."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from distlab import __version__


class Refused(Exception):
    """Something asked for cannot be done; the message says what to do instead, in one line."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status: 0 done, 1 could not be done, 2 usage."""
    arguments = _parser().parse_args(argv)
    try:
        status = arguments.command(arguments) or 0
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        print("distlab: interrupted", file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if arguments.debug:
            traceback.print_exc()
        else:
            from distlab import quoting

            said = " ".join(str(error).split()) or type(error).__name__
            print(f"distlab: {quoting.visible(said)}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="distlab", description="A lab course on distributed deep learning that checks itself."
    )
    parser.add_argument("--version", action="version", version=f"distlab {__version__}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_info(commands)
    _add_check(commands)
    _add_run(commands)
    _add_submit(commands)
    _add_grade(commands)
    _add_reference(commands)
    _add_bench(commands)
    return parser


def _command(commands, name: str, function, help: str, example: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name, help=help, description=help, epilog=f"example: distlab {example}"
    )
    parser.add_argument(
        "--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
    )
    parser.set_defaults(command=function)
    return parser


def _add_info(commands) -> None:
    _command(
        commands, "info", info, "What works on this machine, and what would mend the rest.", "info"
    )


def info(arguments: argparse.Namespace) -> int:
    from distlab.info import lines

    with contextlib.suppress(Refused):  # outside a course there is only less to tell
        _course()
    for line in lines():
        print(line)
    return 0


def _add_check(commands) -> None:
    parser = _command(
        commands, "check", check, "Judge a notebook by its visible cases, without a gradebook.",
        "check labs/01-message-passing/message_passing.ipynb",
    )  # fmt: skip
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the report there")


def check(arguments: argparse.Namespace) -> int:
    from distlab import quoting
    from distlab.checking import check_notebook, report

    verdicts = check_notebook(arguments.notebook)
    for verdict in verdicts:
        points = f"{verdict.score:g}/{verdict.exercise.points}"
        said = f"{verdict.exercise.name:24} {points:>6} {verdict.status:10} {verdict.message}"
        print(quoting.visible(said.rstrip()))
    if arguments.json:
        _write_json(arguments.json, report(arguments.notebook, verdicts))
    return 0


def _add_run(commands) -> None:
    parser = _command(
        commands, "run", run, "Run a lab script, or a function of a notebook, on ranks here.",
        "run solutions/01-message-passing/send_receive.py --ranks 2 --trace trace.json",
    )  # fmt: skip
    parser.add_argument("program", type=Path, metavar="NOTEBOOK_OR_SCRIPT")
    _run_options(parser)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the script's own arguments")


def _run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ranks", type=int, default=2, metavar="N", help="how many (default: 2)")
    parser.add_argument("--function", metavar="NAME", help="of a notebook: call NAME(rank, size)")
    parser.add_argument("--trace", type=Path, metavar="FILE", help="write a Chrome/Perfetto trace")
    parser.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="end the run after this time"
    )


def run(arguments: argparse.Namespace) -> int:
    from distlab.launch import launch

    own, ours = _split(arguments, _run_options)
    return launch(
        ours.program,
        ours.ranks,
        own,
        function=ours.function,
        trace=ours.trace,
        timeout=ours.timeout,
    )


def _split(arguments: argparse.Namespace, options) -> tuple[list[str], argparse.Namespace]:
    """Our options may also stand behind the program's name; what is left is the script's own.

    Args:
        options: adds them to a parser.
    """
    late = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    options(late)
    late.set_defaults(**vars(arguments))
    words = [*arguments.arguments, "--"]
    end = words.index("--")  # behind it nothing is ours
    ours, own = late.parse_known_args(words[:end])
    return own + words[end + 1 : -1], ours


def _add_submit(commands) -> None:
    parser = _command(
        commands, "submit", submit,
        "Run a lab's batch file, a script, or a function of a notebook as a Slurm job, and follow "
        "it. Ctrl-C cancels the job.",
        "submit solutions/01-message-passing/send_receive.py --nodes 2 --ranks 2",
    )  # fmt: skip
    parser.add_argument("program", type=Path, metavar="BATCHFILE_OR_SCRIPT_OR_NOTEBOOK")
    _submit_options(parser)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own arguments")


def _submit_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--nodes", type=int, metavar="N", help="machines")
    parser.add_argument("--ranks", type=int, metavar="N", help="in all")
    parser.add_argument("--gpus", type=int, metavar="N", help="of each machine")
    parser.add_argument("--time", metavar="LIMIT", help="minutes, or hours:minutes:seconds")
    parser.add_argument("--partition", metavar="NAME", help="Slurm's partition")
    parser.add_argument("--function", metavar="NAME", help="of a notebook: call NAME(rank, size)")
    parser.add_argument("--detach", action="store_true", help="do not wait for the job's end")
    parser.add_argument(
        "--dry-run", action="store_true", help="show what sbatch would be given, and stop"
    )


def submit(arguments: argparse.Namespace) -> int:
    from distlab import jobs, slurm

    own, ours = _split(arguments, _submit_options)
    words, script = slurm.planned(
        ours.program, own, ours.nodes, ours.ranks, ours.gpus, ours.time, ours.partition,
        ours.function,
    )  # fmt: skip
    if ours.dry_run:
        import shlex

        print(shlex.join(["sbatch", *words]) if script is None else script)
        return 0
    job = jobs.submit(script, words, ours.program.resolve().parent)
    if ours.detach:
        print(f"job {job.id}: `squeue -j {job.id}` shows it, `scancel {job.id}` ends it")
        return 0
    if slurm.watch(job, slurm.Terminal()).ok:
        return 0
    raise Refused(slurm.verdict(job))


def _add_grade(commands) -> None:
    parser = _command(
        commands, "grade", grade, "Grade submissions into nbgrader's gradebook, with feedback.",
        "grade 01-message-passing --jobs 4 --json report.json",
    )  # fmt: skip
    parser.add_argument("assignment", nargs="*", help="labs (default: all that were submitted)")
    parser.add_argument("--submitted", type=Path, metavar="DIR", help="where the submissions lie")
    parser.add_argument("--student", metavar="ID", help="only this student's")
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="submissions at once (default: twice the cores)"
    )
    parser.add_argument(
        "--cluster", metavar="PROFILE",
        help="judge on the engines of this ipyparallel cluster, one submission an engine, or with "
        "`slurm` on --jobs engines of a Slurm job",
    )  # fmt: skip
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report there")
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
    _course()
    if arguments.trust:
        os.environ["DISTLAB_TRUST"] = "1"  # nbgrader's own steps ask for it too
    if arguments.watch:
        from grader.commands import watch

        watch(arguments.jobs)
    from grader.commands import grade as grade_class

    reports = grade_class(
        arguments.assignment, arguments.submitted, arguments.student, arguments.jobs,
        arguments.demo, arguments.cluster,
    )  # fmt: skip
    if arguments.json:
        _write_json(arguments.json, reports[0] if len(reports) == 1 else reports)
    return 0


def _add_reference(commands) -> None:
    parser = _command(
        commands, "reference", reference, "Record or verify the reference solutions' outputs.",
        "reference verify 01-message-passing",
    )  # fmt: skip
    parser.add_argument("action", choices=("record", "verify"))
    parser.add_argument("assignment", nargs="*", help="labs (default: all)")


def reference(arguments: argparse.Namespace) -> int:
    _course()
    from grader.commands import reference as record_or_verify

    return record_or_verify(arguments.action, arguments.assignment)


def _add_bench(commands) -> None:
    parser = _command(
        commands,
        "bench",
        bench,
        "Run the benchmarks of bench/ as one table of ratios.",
        "bench startup",
    )
    parser.add_argument("names", nargs="*", help="which (default: all)")
    parser.add_argument("--json", metavar="FILE", default="", help="every measurement as data")
    parser.add_argument("--page", metavar="FILE", default="", help="the table as Markdown")


def bench(arguments: argparse.Namespace) -> int:
    _course()
    from bench import run_all

    return run_all(arguments.names, arguments.json, arguments.page)


def _course() -> Path:
    """Make the course's own packages (`grader`, `bench`) importable; returns its root.

    Raises:
        Refused: this is not inside a course.
    """
    here = Path.cwd()
    for root in (here, *here.parents):
        if (root / "nbgrader_config.py").exists() and (root / "grader").is_dir():
            sys.path.insert(0, str(root))
            return root
    raise Refused(
        f"{here} is no course folder: change to the folder with nbgrader_config.py and grader/"
    )


def _write_json(path: Path, content) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
