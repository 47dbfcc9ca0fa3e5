"""Exceptions of a student's code as data: type, text, what caused them, and the student's lines."""

from __future__ import annotations

import builtins
import itertools
import linecache
import os
import re
import sysconfig
import traceback
import types
from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch

from distlab.processes import origin
from distlab.rank import places
from distlab.rank.described import Described

MEMBERS = 8  # of a group of exceptions, or of a chain of causes, so many are told
QUOTED = 4  # characters of a text that is found in another by no accident
LONGEST = 400  # characters of the text of each
#: what `except*` handles; Python 3.10 does not have it
_GROUP: Any = getattr(builtins, "BaseExceptionGroup", ())
_TORCH = os.path.dirname(torch.__file__)
_PYTHON = sysconfig.get_path("stdlib")
#: frames that nobody here has written; Python has some of its own in its binary ("<frozen os>")
_NOT_OWN = ("site-packages", "__autograph_generated_file", "<frozen ")
_TRACED = "in user code:"  # how TensorFlow begins to tell what was raised in a tf.function
_TRACED_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')


def describe(error: BaseException) -> dict[str, Any]:
    """An exception as data: its type, its message (with the members of a group), and the frames
    that are the student's own; as "from" the exceptions that it was raised from, if there are any.
    """
    told = _described(error)
    if causes := _causes(error, told["message"]):
        told["from"] = causes[:2000]
    return told


def _causes(error: BaseException, told: str) -> str:
    """What an exception was raised from, and that from what, as far as the text does not say so."""
    found: list[str] = []
    seen = {id(error)}
    while (earlier := _earlier(error)) is not None and id(earlier[1]) not in seen:
        before, error = earlier
        seen.add(id(error))
        if len(seen) > MEMBERS:
            break
        text = _message(error)
        quoted = len(text) >= QUOTED and text in told  # as in `raise ValueError(str(e)) from e`
        if not quoted:
            found.append(f"{before}: {_in_words(error)}")
    return "; ".join(found)


def _in_words(error: BaseException) -> str:
    """An exception's type, text and place on one line, without the stack that torch adds to it."""
    told = _described(error)
    text = " ".join(told["message"].partition("\nException raised from")[0].split())[:LONGEST]
    at = "".join(f" at {one['function']}:{one['line']}" for one in told["frames"][-1:])
    return (f"{told['type']}: {text}" if text else told["type"]) + at


def _described(error: BaseException) -> dict[str, Any]:
    """An exception by itself, without those that it was raised from."""
    if isinstance(error, Described):
        return {**error.described}
    message, frames = _message(error), _frames(error)
    if message.startswith(_TRACED):
        message, frames = _traced(message, frames)
    return {"type": type(error).__name__, "message": message[:2000], "frames": frames[-12:]}


def _earlier(error: BaseException) -> tuple[str, BaseException] | None:
    """The exception that this one was raised from, or while it was handled by the student's code,
    after words that introduce it. (Libraries handle many that say nothing to anybody.)
    """
    if error.__cause__ is not None:
        return "its cause", error.__cause__
    context = error.__context__
    if context is None or error.__suppress_context__ or not _frames(context):
        return None
    return "before it", context


def _message(error: BaseException) -> str:
    """An exception's own text; of a group, what its first members say as well."""
    message = _text(error)
    if not isinstance(error, _GROUP):
        return message
    told = Counter(_in_words(one) for one in itertools.islice(_members(error), MEMBERS))
    members = (one + (f" ({times} times)" if times > 1 else "") for one, times in told.items())
    return f"{message}: {'; '.join(members)}"


def _members(group: Any) -> Iterator[BaseException]:
    """The exceptions in a group and in the groups in it, however deep these are."""
    todo = [group]
    while todo:
        one = todo.pop()
        if isinstance(one, _GROUP):
            todo.extend(reversed(one.exceptions))
        else:
            yield one


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # a class of the student's own can raise anything here
        return ""


def _frames(error: BaseException) -> list[dict[str, Any]]:
    """The frames that are the student's own."""
    return [
        _frame(frame, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if _is_own(frame.f_code.co_filename)
    ]


def _is_own(path: str) -> bool:
    """Is this a file of the student's?"""
    ours = path.startswith((_TORCH, _PYTHON)) or origin.ours(path)
    return not ours and not any(part in path for part in _NOT_OWN)


def _frame(frame: types.FrameType, line: int) -> dict[str, Any]:
    code = frame.f_code
    return {
        "function": places.function_of(code),
        "line": line,
        "file": os.path.basename(code.co_filename),
        "text": linecache.getline(code.co_filename, line, frame.f_globals).strip(),
    }


def _traced(message: str, frames: list[dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
    """TensorFlow quotes a whole traceback, that of the code which it has made a graph of."""
    for name, line, function in _TRACED_FRAME.findall(message):
        if not any(part in name for part in _NOT_OWN):
            text = linecache.getline(name, int(line))
            file = os.path.basename(name)
            frames = [
                *frames,
                {"function": function, "line": int(line), "file": file, "text": text},
            ]
    return message.strip().splitlines()[-1].strip(), frames
