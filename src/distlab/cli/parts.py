"""What the commands are made of."""

from __future__ import annotations

import argparse
import difflib
import json
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any


class Refused(Exception):
    """Something asked for cannot be done; the message says what to do instead, in one line."""


class Mistaken(Refused):
    """What was asked for cannot be meant: a name that is none, a file where a folder should be."""

    exit_status = 2


class Parser(argparse.ArgumentParser):
    """argparse's, but that it asks for what is needed alone, and says what was probably meant."""

    def add_argument(self, *names: Any, **kinds: Any) -> argparse.Action:
        action = super().add_argument(*names, **kinds)
        if action.nargs == argparse.ZERO_OR_MORE:
            action.required = False  # argparse counts it among what is missing
        return action

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(one) for one in action.choices]
        like = difflib.get_close_matches(str(value), known, 1)
        meant = f" (did you mean {like[0]}?)" if like else ""
        said = f"there is no {str(value)[:60]!r}{meant}; choose from {', '.join(known)}"
        raise argparse.ArgumentError(action, said)


if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[Parser]


def command(
    commands: Commands,
    name: str,
    function: Callable[[argparse.Namespace], int],
    help: str,
    example: str,
) -> argparse.ArgumentParser:
    parser: Parser = commands.add_parser(
        name, help=help, description=help, epilog=f"example: distlab {example}"
    )
    parser.add_argument(
        "--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
    )
    parser.set_defaults(command=function, parser=parser)
    return parser


def count(text: str) -> int:
    """A number of things for argparse: 1 or more."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of 1 or more")
    return number


def seconds(text: str) -> float:
    """A time for argparse, more than none."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return number


def output(text: str) -> Path:
    """A file to write for argparse: that it cannot be is said before anything runs."""
    path = Path(text)
    if not path.parent.is_dir():
        said = f"the folder {path.parent} is not there: make it, or name another file"
    elif path.is_dir():
        said = f"{path} is a folder: name a file in it"
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        said = f"{path} cannot be written: name a file in a folder of your own"
    else:
        return path
    raise argparse.ArgumentTypeError(said)


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
        path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
    except OSError as error:
        raise Refused(
            f"{path} cannot be written ({error.strerror}): make room, or name another file"
        ) from error
