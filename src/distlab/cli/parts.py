"""What the commands are made of."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


class Refused(Exception):
    """Something asked for cannot be done; the message says what to do instead, in one line."""


class Mistaken(Refused):
    """What was asked for cannot be meant: a name that is none, a file where a folder should be."""

    exit_status = 2


def command(
    commands: Commands,
    name: str,
    function: Callable[[argparse.Namespace], int],
    help: str,
    example: str,
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=help, description=help, epilog=f"example: distlab {example}"
    )
    parser.add_argument(
        "--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
    )
    parser.set_defaults(command=function)
    return parser


def enter_course() -> Path:
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


def write_json(path: Path, content: object) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
    except OSError as error:
        raise Refused(
            f"{path} cannot be written ({error.strerror}): make room, or name another file"
        ) from error
