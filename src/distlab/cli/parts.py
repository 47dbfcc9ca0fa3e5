"""What the commands share: the parser, the types of arguments, and their errors."""

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
    """What was asked for makes no sense: an unknown name, a file where a folder should be."""

    exit_status = 2


class Parser(argparse.ArgumentParser):
    """argparse's parser, except that it names only what is really required among what is missing,
    says what a misspelt word probably meant, and takes no empty word where one means something.
    """

    def add_argument(self, *names: Any, **kinds: Any) -> argparse.Action:
        action = super().add_argument(*names, **kinds)
        if action.nargs == argparse.ZERO_OR_MORE:
            action.required = False  # else argparse names it among what is missing
        return action

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(one) for one in action.choices]
        like = difflib.get_close_matches(str(value), known, 1)
        meant = f" (did you mean {like[0]}?)" if like else ""
        said = f"there is no {str(value)[:60]!r}{meant}; choose from {', '.join(known)}"
        raise argparse.ArgumentError(action, said)

    def _get_value(self, action: argparse.Action, text: str) -> Any:
        # from a variable that is not set, say; as a path it would be the current folder
        passed_on = (argparse.REMAINDER, argparse.PARSER)
        if not text and action.default != "" and action.nargs not in passed_on:
            raise argparse.ArgumentError(action, "it is empty: write what it is to be")
        return super()._get_value(action, text)


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
    """A number of things, for argparse: 1 or more."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of 1 or more")
    return number


def seconds(text: str) -> float:
    """A time above 0, for argparse."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return number


def folder(text: str) -> Path:
    """A folder to read, for argparse."""
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"{text} is no folder: name one that is there")
    return Path(text)


def output(text: str) -> Path:
    """A file to write, for argparse: if it cannot be written, that is said before anything runs."""
    path = Path(text)
    try:
        said = _unwritable(path)
    except OSError as error:  # its name is too long, or its folder may not be searched
        said = f"{path} cannot be written ({error.strerror}): name another file"
    if said:
        raise argparse.ArgumentTypeError(said)
    return path


def _unwritable(path: Path) -> str:
    """Why a file cannot be written, in words; empty if it can."""
    if not path.parent.is_dir():
        return f"the folder {path.parent} is not there: make it, or name another file"
    if path.is_dir():
        return f"{path} is a folder: name a file in it"
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        return f"{path} cannot be written: name a file in a folder of your own"
    return ""


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
    """Write data as JSON.

    Raises:
        Refused: the file cannot be written.
    """
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    try:
        # a lone surrogate, from a file name that is not UTF-8, as the escape that JSON has for it
        path.write_bytes(text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise Refused(
            f"{path} cannot be written ({error.strerror}): make room, or name another file"
        ) from error
