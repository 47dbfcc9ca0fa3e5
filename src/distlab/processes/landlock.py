"""Keep student code from writing to what the kernel says of processes, by Landlock.

A process may write to some files of its own in `/proc`, whoever it is: to `oom_score_adj` above
all, by which the kernel would end other submissions, and the grader, before the one that has used
up the memory. These files are those of each process, so that nothing can be mounted over them, and
process 1 of a room has to write to others there.

Nothing is forbidden where the kernel has no Landlock of the second version (Linux 5.19), which is
the first that lets files be moved from one folder to another; where it refuses; and where there are
GPUs, whose driver writes there as well. Submissions are judged there all the same.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import os
import struct

# the same on all machines: `unistd.h` and linux/landlock.h
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1
_WRITE_FILE, _REFER = 1 << 1, 1 << 13  # REFER: move or link files from folder to folder
_LEAST = 2


def rules() -> int | None:
    """A descriptor of the rules that `forbid_writing` takes; `None` where nothing is forbidden.
    They are made once for all that this process forks: each folder of `/` takes some 40 µs.
    """
    if _call(_CREATE_RULESET, None, 0, _VERSION) < _LEAST or glob.glob("/dev/nvidia*"):
        return None
    handled = struct.pack("Q", _WRITE_FILE | _REFER)
    made = _call(_CREATE_RULESET, handled, len(handled), 0)
    if made < 0:
        return None
    try:
        _allow(made, "/", _REFER)
        for name in os.listdir("/"):
            if name != "proc":
                with contextlib.suppress(FileNotFoundError):  # a link that leads nowhere
                    _allow(made, f"/{name}", _WRITE_FILE)
    except OSError:  # with some of the rules, student code could not write where it has to
        os.close(made)
        return None
    return made


def forbid_writing(rules: int) -> None:
    """Forbid it to this process and everything that it forks, for good.

    Needs `PR_SET_NO_NEW_PRIVS`.
    """
    _call(_RESTRICT_SELF, rules, 0)
    os.close(rules)


def _allow(ruleset: int, path: str, what: int) -> None:
    """Allow this below a path, or to the file that is there.

    Raises:
        OSError: the kernel refuses.
    """
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = struct.pack("=Qi", what, place)
        if _call(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0) < 0:
            raise OSError(ctypes.get_errno(), f"Landlock has no rule for {path}")
    finally:
        os.close(place)


_libc = ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: int | bytes | None) -> int:
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result: int = _libc.syscall(ctypes.c_long(number), *words)
    return result
