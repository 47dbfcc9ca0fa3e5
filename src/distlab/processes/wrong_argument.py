"""Refuses what functions that notebooks call cannot use, in one sentence that says what they can.

Without it the sentence would be Python's own, on a line of this library that nobody has written.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from distlab.processes.told_alone import ToldAlone

P = ParamSpec("P")
R = TypeVar("R")
LONGEST = 60  # characters of an argument that are quoted
A_COMMAND = "takes a command as you would type it"


class WrongArgument(ToldAlone, TypeError, ValueError):
    """An argument cannot be used."""


def takes(wanted: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Have calls that do not fit a function's parameters refused by a sentence.

    Args:
        wanted: what it takes, as the whole sentence: "check takes …, check(exchange) say".
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def called(*args: P.args, **options: P.kwargs) -> R:
            try:
                signature.bind(*args, **options)
            except TypeError as error:
                raise WrongArgument(f"{wanted} ({error})") from None
            return function(*args, **options)

        return called

    return decorated


def quoted(value: Any) -> str:
    """An argument and its type, in words."""
    try:
        shown = repr(value)
    except Exception:  # a class of the notebook's can raise anything here
        shown = "what was given"
    shown = shown if len(shown) <= LONGEST else f"{shown[:LONGEST]} …"
    return f"{shown} is of type {type(value).__name__}"


def whole(value: Any, wanted: str) -> int:
    """The int that an argument is.

    Args:
        wanted: what takes it, and what it takes, as the beginning of a sentence: "Ranks takes a
            number of ranks, Ranks(4) say".

    Raises:
        WrongArgument: it is none.
    """
    try:
        return int(operator.index(value))  # True is 1
    except TypeError:
        raise WrongArgument(f"{wanted}, and {quoted(value)}") from None


def seconds(value: Any, name: str) -> float:
    """The seconds that an argument of this name is.

    Raises:
        WrongArgument: it is no positive number.
    """
    try:
        found = float(value) if hasattr(value, "__float__") else None  # a text has none
    except (TypeError, ValueError, OverflowError):  # an array of several numbers has one, too
        found = None
    if found is None:
        raise WrongArgument(f"{name} is a number of seconds, {name}=30 say, and {quoted(value)}")
    if not found > 0:
        raise WrongArgument(f"{name} is a number of seconds above 0, and this is {value}")
    return found


def listed(value: Any, wanted: str) -> list[Any]:
    """The list of what an argument has in it.

    Raises:
        WrongArgument: it has nothing in it that could be listed; `wanted` begins the sentence.
    """
    try:
        inside = iter(value)
    except TypeError:
        raise WrongArgument(f"{wanted}, and {quoted(value)}") from None
    return list(inside)


def text(command: Any, name: str) -> str:
    """The text that a command is.

    Raises:
        WrongArgument: it is none, or there is nothing in it.
    """
    if isinstance(command, str) and command.strip():
        return command
    given = "this is empty" if isinstance(command, str) else quoted(command)
    raise WrongArgument(f"{name} {A_COMMAND}, and {given}")
