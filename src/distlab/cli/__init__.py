"""The command line. What a command does not need it does not import."""

from __future__ import annotations

import argparse
import contextlib
import errno
import io
import json
import os
import shutil
import sys
import textwrap
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from distlab import __version__
from distlab.cli import instructors, looks
from distlab.cli.parts import (
    Parser,
    Refused,
    command,
    enter_course,
    output,
    seconds,
    write_json,
)
from distlab.processes import standard_files

if TYPE_CHECKING:
    from distlab.cli.parts import Commands
    from distlab.exercises.verdict import Verdict


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status: 0 done, 1 could not be done, 2 usage."""
    standard_files.occupy()
    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal's encoding may lack what we say
        sys.stdout.reconfigure(errors="backslashreplace")
    parser = _parser()
    typed = sys.argv[1:] if argv is None else list(argv)
    arguments, unknown = parser.parse_known_args(typed)
    arguments.typed = typed
    if unknown:  # reported with the usage of the command that they were given to
        arguments.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    try:
        status = arguments.command(arguments) or 0
        sys.stdout.flush()
        return status
    except KeyboardInterrupt as error:
        print(": ".join(["distlab: interrupted", *map(str, error.args)]), file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if arguments.debug:
            traceback.print_exc()
        else:
            from distlab.records import redaction

            said = " ".join(_sentence(error).split()) or type(error).__name__
            print(f"distlab: {redaction.visible(said)}", file=sys.stderr)
        return getattr(error, "exit_status", 1)


def _sentence(error: Exception) -> str:
    if not isinstance(error, OSError):
        return str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        folder = os.environ.get("TMPDIR") or "the temporary or the current folder"
        where, then = error.filename or f"{folder}, or where the output goes", "make room"
    elif error.filename and error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        where, then = error.filename, "see that this account may read or write it"
    else:
        return str(error)
    return f"{error.strerror} ({where}): {then}, then run the same command again"


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="distlab", description="A lab course on distributed deep learning that checks itself."
    )
    parser.add_argument("--version", action="version", version=f"distlab {__version__}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_info(commands)
    _add_fetch(commands)
    _add_check(commands)
    _add_run(commands)
    _add_submit(commands)
    looks.add(commands)
    instructors.add(commands)
    _add_explain(commands)
    _add_bench(commands)
    return parser


def _add_info(commands: Commands) -> None:
    command(
        commands, "info", info, "What works on this machine, and what would fix the rest.", "info"
    )


def info(arguments: argparse.Namespace) -> int:
    from distlab.cli.info import lines

    with contextlib.suppress(Refused):  # outside of a course there is less to report
        enter_course()
    for line in lines():
        print(line)
    return 0


def _add_fetch(commands: Commands) -> None:
    parser = command(
        commands, "fetch", fetch, "Copy a lab's folder, as students get it, to this machine.",
        "fetch 01-message-passing",
    )  # fmt: skip
    parser.add_argument("lab", nargs="?", metavar="LAB", help="its name or number (default: list)")
    parser.add_argument(
        "folder", nargs="?", type=Path, metavar="FOLDER",
        help="where to (default: LAB in this folder); what is there already is kept",
    )  # fmt: skip


def fetch(arguments: argparse.Namespace) -> int:
    from distlab import course
    from distlab.cli.labs import fetch

    said = fetch(arguments.lab, arguments.folder) if arguments.lab else "\n".join(course.LABS)
    print(said)
    return 0


def _add_check(commands: Commands) -> None:
    parser = command(
        commands, "check", check, "Judge a notebook by its visible cases, without a gradebook.",
        "check 01-message-passing",
    )  # fmt: skip
    parser.add_argument(
        "notebook", type=Path, metavar="NOTEBOOK", help="or the folder that it lies in"
    )
    parser.add_argument("--json", type=output, metavar="FILE", help="also write the report there")


def check(arguments: argparse.Namespace) -> int:
    from distlab.checking.check_notebook import check_notebook, own_said, report
    from distlab.records import redaction

    notebook = _notebook(arguments.notebook)
    verdicts = check_notebook(notebook)
    for verdict in verdicts:
        print(redaction.visible(_line(verdict, sys.stdout.isatty())))
    if said := own_said(notebook, verdicts[0].exercise.lab):
        print(redaction.visible(said))
    if arguments.json:
        write_json(arguments.json, report(notebook, verdicts))
    return 0


def _line(verdict: Verdict, terminal: bool) -> str:
    """A verdict in a line; in a terminal, which would break it anywhere, the message below it."""
    points = f"{verdict.score:g}/{verdict.exercise.points}"
    line = f"{verdict.exercise.name:24} {points:>6} {verdict.status:10} "
    if not terminal or not verdict.message:
        return f"{line}{verdict.message}".rstrip()
    wide, indent = shutil.get_terminal_size().columns, " " * 4
    told = textwrap.fill(
        verdict.message, wide, initial_indent=indent, subsequent_indent=indent,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return f"{line.rstrip()}\n{told}"


def _notebook(path: Path) -> Path:
    """The notebook that was named, or the only one of the folder that was named.

    Raises:
        Refused: it is not there, or the folder has none or several.
    """
    if not path.exists():
        raise Refused(f"{path} is not there: name a notebook, or the folder of a lab")
    if not path.is_dir():
        return path
    found = sorted(path.glob("*.ipynb"))
    if len(found) == 1:
        return found[0]
    if not found:
        raise Refused(f"there is no notebook in {path}: name a notebook, or the folder of a lab")
    shown = ", ".join(one.name for one in found[:5]) + (", …" if len(found) > 5 else "")
    raise Refused(f"there are {len(found)} notebooks in {path}: name one of {shown}")


def _add_run(commands: Commands) -> None:
    parser = command(
        commands, "run", run, "Run a lab script, or a function of a notebook, on ranks here.",
        "run 01-message-passing/send_receive.py --ranks 2 --trace trace.json",
    )  # fmt: skip
    parser.add_argument("program", type=Path, metavar="NOTEBOOK_OR_SCRIPT")
    _run_options(parser)
    _own_arguments(parser, "the script's own arguments")


def _own_arguments(parser: argparse.ArgumentParser, help: str) -> None:
    own = parser.add_argument("arguments", nargs=argparse.REMAINDER, help=help)
    own.required = False  # else argparse names them among what is missing


def _run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ranks", type=int, default=2, metavar="N", help="how many (default: 2)")
    parser.add_argument("--function", metavar="NAME", help="of a notebook: call NAME(rank, size)")
    parser.add_argument(
        "--trace", type=output, metavar="FILE", help="write a Chrome/Perfetto trace"
    )
    parser.add_argument(
        "--timeout", type=seconds, metavar="SECONDS", help="end the run after this time"
    )


def run(arguments: argparse.Namespace) -> int:
    from distlab.engines.launch import launch

    own, ours = _split(arguments, _run_options)
    return launch(
        ours.program,
        ours.ranks,
        own,
        function=ours.function,
        trace=ours.trace,
        timeout=ours.timeout,
    )


def _split(
    arguments: argparse.Namespace, options: Callable[[argparse.ArgumentParser], None]
) -> tuple[list[str], argparse.Namespace]:
    """The script's own arguments, and ours: our options may also follow the program's name.

    Args:
        options: adds our options to a parser.
    """
    late = Parser(
        prog=arguments.parser.prog,
        usage=arguments.parser.format_usage().removeprefix("usage: ").rstrip(),
        add_help=False,
        allow_abbrev=False,
    )
    options(late)
    late.set_defaults(**vars(arguments))
    words = [*arguments.arguments, "--"]
    end = words.index("--")  # after it nothing is ours
    name, dashes = arguments.typed[-len(words) - 1 :][:2]
    if dashes == "--" and Path(name) == arguments.program:  # argparse has dropped these
        end = -1
    ours, own = late.parse_known_args(words[: max(end, 0)])
    return own + words[end + 1 : -1], ours


def _add_submit(commands: Commands) -> None:
    parser = command(
        commands, "submit", submit,
        "Run a lab's batch file, a script, or a function of a notebook as a Slurm job, and follow "
        "it. Ctrl-C cancels the job.",
        "submit 01-message-passing/send_receive.py --nodes 2 --ranks 2",
    )  # fmt: skip
    parser.add_argument("program", type=Path, metavar="BATCHFILE_OR_SCRIPT_OR_NOTEBOOK")
    _submit_options(parser)
    _own_arguments(parser, "the program's own arguments")


def _submit_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--nodes", type=int, metavar="N", help="machines")
    parser.add_argument("--ranks", type=int, metavar="N", help="in all")
    parser.add_argument("--gpus", type=int, metavar="N", help="of each machine")
    parser.add_argument("--time", metavar="LIMIT", help="minutes, or hours:minutes:seconds")
    parser.add_argument("--partition", metavar="NAME", help="Slurm's partition")
    parser.add_argument("--function", metavar="NAME", help="of a notebook: call NAME(rank, size)")
    parser.add_argument("--detach", action="store_true", help="do not wait for the job's end")
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="show what sbatch would be given, and what Slurm says to it if it is installed here",
    )


def submit(arguments: argparse.Namespace) -> int:
    from distlab.engines.slurm.job import sbatch, tested
    from distlab.engines.slurm.submit import Terminal, planned, verdict, watch

    own, ours = _split(arguments, _submit_options)
    words, script = planned(
        ours.program, own, ours.nodes, ours.ranks, ours.gpus, ours.time, ours.partition,
        ours.function,
    )  # fmt: skip
    folder = ours.program.resolve().parent
    if ours.dry_run:
        import shlex

        print(shlex.join(["sbatch", *words]) if script is None else script, flush=True)
        if said := tested(script, words, folder):
            print(f"Slurm says: {said}", file=sys.stderr)
        return 0
    job = sbatch(script, words, folder)
    if ours.detach:
        print(f"job {job.id}: `squeue -j {job.id}` shows it, `scancel {job.id}` ends it")
        return 0
    if watch(job, Terminal()).ok:
        return 0
    raise Refused(verdict(job))


def _add_explain(commands: Commands) -> None:
    parser = command(
        commands, "explain", explain,
        "Say why a job stands still, from the Flight Recorder dumps of all its ranks "
        "(TORCH_FR_BUFFER_SIZE=2000).",
        "explain /tmp/nccl_trace_rank_*",
    )  # fmt: skip
    parser.add_argument(
        "dumps", nargs="+", type=Path, metavar="DUMP", help="one for each rank, or their folder"
    )
    parser.add_argument("--svg", type=output, metavar="FILE", help="the run as a picture")
    parser.add_argument("--json", action="store_true", help="print data, for a program to read")


def explain(arguments: argparse.Namespace) -> int:
    from distlab.records import flight_recorder, told
    from distlab.viz.timeline import timeline

    try:
        found = flight_recorder.read(_dumps(arguments.dumps))
    except (flight_recorder.Unreadable, OSError) as error:
        raise Refused(str(error)) from error
    verdict = flight_recorder.explain(found)
    said = str(verdict or flight_recorder.unexplained(found))
    picture = timeline(found)
    if arguments.svg:
        picture.save(arguments.svg)
    if arguments.json:
        print(json.dumps(told.as_data(found, verdict, said), indent=1))
    else:
        print(f"{said}\n{picture.text()}")
    return 0


def _dumps(paths: list[Path]) -> list[Path]:
    """The files that were named, or all of the one folder that was named.

    Raises:
        Refused: one is not there, or none is in the folder.
    """
    for path in paths:
        if not path.exists():
            raise Refused(f"{path} is not there: name the dumps of all ranks, or their folder")
    if len(paths) > 1 or not paths[0].is_dir():
        return paths
    if found := sorted(path for path in paths[0].iterdir() if path.is_file()):
        return found
    raise Refused(f"there is no dump in {paths[0]}: name the dumps of all ranks, or their folder")


def _add_bench(commands: Commands) -> None:
    parser = command(
        commands,
        "bench",
        bench,
        "Run the benchmarks of bench/ as one table of ratios.",
        "bench startup",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="which (default: all)")
    parser.add_argument(
        "--json", type=output, metavar="FILE",
        help="every measurement as data; what FILE has of other benchmarks stays",
    )  # fmt: skip


def bench(arguments: argparse.Namespace) -> int:
    enter_course()
    from bench import run_all

    return run_all(arguments.names, str(arguments.json or ""))
