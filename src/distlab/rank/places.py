"""Where in the student's code something happens: whose the frames are that a call has come through.

Entries name the function, the file and the line of the call in the student's code, and the function
of torch.distributed's that it has called there.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import traceback
import types

from torch.distributed import c10d_logger
from torch.distributed import distributed_c10d as c10d

from distlab.processes import origin
from distlab.rank import threads
from distlab.rank.standing import Place
from distlab.rank.threads import started_at
from distlab.records import events
from distlab.records.events import ENTRY

_INSTALLED = (origin.ROOT, "<frozen ") + tuple(
    sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
_C10D = c10d.__file__
_LOGGER = c10d_logger.__file__  # stands around each function of torch.distributed's
_THREADS = threads.__file__  # and around what runs on a thread
_RECORDING = origin.recording()
_STUDENT, _LIBRARY, _API, _OURS = range(4)
API_BYTES, FUNCTION_BYTES, _FILE_BYTES = (
    ENTRY[name].itemsize for name in ("api", "function", "file")
)
_COMPREHENSIONS = {"<listcomp>", "<genexpr>", "<setcomp>", "<dictcomp>"}


class Calls:
    """Tells where calls come from, and keeps what it has found out about each function."""

    def __init__(self) -> None:
        self._codes: dict[int, Code] = {}

    def caller(self):
        """(flags, API name, function, file, line) of the call in the student's code, for whoever
        calls what calls this.
        """
        codes, flags = self._codes, 0
        frame: types.FrameType | None = sys._getframe(2)
        api = outermost = b""
        while frame is not None:
            code = frame.f_code
            known = codes.get(id(code))  # to hash a code takes longer than all the rest
            if known is None:
                known = codes[id(code)] = Code(code)
            kind = known.kind
            if kind == _STUDENT:
                place, line = known.place, frame.f_lineno
                break
            if kind != _OURS:
                outermost = known.name
                if kind == _API:
                    api = outermost
            frame = frame.f_back
        else:  # a thread whose target is no code of the student's
            started = started_at()
            place, line = started or ((b"", b""), 0)
            flags = events.FROM_START if started else 0
            if not (started or outermost):  # C++ alone: autograd's own thread for a GPU
                outermost = b"backward"
        if not api:
            return flags | events.INTERNAL, outermost, *place, line
        return flags | (0 if api is outermost else events.INDIRECT), api, *place, line


def stands_at(frame: types.FrameType | None) -> Place | None:
    """The student's innermost frame, and what of torch.distributed it has called."""
    called = b""
    while frame is not None and (kind := _kind(frame.f_code)) != _STUDENT:
        if kind != _OURS:
            called = cut(frame.f_code.co_name, API_BYTES) if kind == _API else b""
        frame = frame.f_back
    if frame is None or (frame.f_back is None and frame.f_code.co_name == "<module>"):
        return None  # at the end of all frames stands what has started the process
    function = cut(function_of(frame.f_code), FUNCTION_BYTES)
    return function, frame.f_lineno, frame.f_lasti, called


def raised_at(error: BaseException) -> tuple[bytes, int]:
    """The student's innermost function that an exception has come through, and the line in it; no
    name and 0 for none.
    """
    function, line = b"", 0
    for frame, number in traceback.walk_tb(error.__traceback__):
        if _kind(frame.f_code) == _STUDENT:
            function, line = cut(function_of(frame.f_code), FUNCTION_BYTES), number
    return function, line


class Code:
    """What an entry says of a function, and whose that is."""

    __slots__ = ("code", "kind", "name", "place")

    def __init__(self, code: types.CodeType) -> None:
        self.code = code  # kept: its id must not become another's
        self.kind = _kind(code)
        self.name = cut(code.co_name, API_BYTES)
        file = os.path.basename(code.co_filename).encode("utf-8", "replace")[-_FILE_BYTES:]
        self.place = (
            cut(function_of(code), FUNCTION_BYTES),
            file.decode("utf-8", "ignore").encode(),
        )


def cut(name: str, most: int) -> bytes:
    """A name in UTF-8, cut behind a whole character."""
    return name.encode("utf-8", "replace")[:most].decode("utf-8", "ignore").encode()


def function_of(code: types.CodeType) -> str:
    """The name of a function; of a comprehension that of the function in which it stands."""
    if code.co_name not in _COMPREHENSIONS:
        return code.co_name
    within = getattr(code, "co_qualname", "").split(".<locals>.")  # since Python 3.11
    names = [name.rpartition(".")[2] for name in within]  # a method has its class's in front
    return next((name for name in names[::-1] if name not in _COMPREHENSIONS), code.co_name)


def _kind(code: types.CodeType) -> int:
    if code.co_filename in _RECORDING or code.co_filename in (_LOGGER, _THREADS):
        return _OURS
    if code.co_filename == _C10D and not code.co_name.startswith("_"):
        return _API
    return _LIBRARY if code.co_filename.startswith(_INSTALLED) else _STUDENT
