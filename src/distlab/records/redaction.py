"""How much a message on a hidden case may repeat of what untrusted processes said.

A student's code sees the inputs of hidden cases, and could carry them out in the text of an
exception, in the name of a function or in the tag of a message. So on a hidden case only words of
a fixed vocabulary, ranks, and the numbers of lines that stand in the answer are repeated. `visible`
is for what may be quoted whole.
"""

from __future__ import annotations

import builtins
import dataclasses
import re
from collections.abc import Callable
from typing import Any

from distlab.records.events import OPS, Event, RankRecord

_ERRORS = {
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
} | {
    "DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "OutOfMemoryError",
    "OutputTooLarge", "UnpicklingError",
}  # fmt: skip
_CALLS = {
    *OPS, "init_process_group", "new_group", "destroy_process_group",
    "isend", "irecv", "batch_isend_irecv", "wait", "reduce_scatter_tensor",
    "all_gather_into_tensor", "all_gather_single", "reduce_scatter_single", "all_to_all_single",
    "monitored_barrier", "send_object_list",
    "recv_object_list", "all_gather_object", "gather_object", "scatter_object_list",
    "broadcast_object_list", "all_reduce_coalesced", "all_gather_coalesced",
    "init", "allreduce", "allreduce_", "allreduce_async", "allreduce_async_", "grouped_allreduce",
    "allgather", "allgather_object", "broadcast_", "broadcast_async_", "broadcast_parameters",
    "broadcast_optimizer_state", "broadcast_object", "broadcast_variables", "gradient",
}  # fmt: skip
#: callers inside DDP and Horovod's optimizer, as `distlab.records.phrases` names them
_INTERNAL = {"backward", "step", "synchronize", "__init__", "_wrapped_call_impl"}
# C0 without tab and newline, C1, marks and overrides of direction, and what UTF-8 cannot say
_ACTIVE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_LONGEST_LINE = 100_000
_WORD = re.compile(r"\S+")
_NUMBERED = re.compile(r":(\d+)")  # as lines are after the name of a function or a file
_LINE = re.compile(r"( at)? line (\d+)\b")
_CALL = re.compile(r"(?<![^\s()])([^\s()]+)\(")  # from its begin: else a long word takes minutes
_TENSOR = re.compile(r"(?:, )?\bname=[^\s(),]*")  # a name of Horovod's
_NUMBER = re.compile(r"(?<![\w#{])-?\d(?:[\d.e+-]*[\de+-])?")  # a full stop is the sentence's


def shown(name: str) -> str:
    """A file's name as a terminal or page can show it: other characters become escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def error(described: dict[str, Any]) -> str:
    """The type of an exception and its line; its text can be anything."""
    name = described["type"] if described["type"] in _ERRORS else "an exception of its own"
    frames = described["frames"]
    where = f" at line {line(frames[-1]['line'])}" if frames else ""
    return f"{name}{where} (its text is not shown: it can quote the hidden input)"


def events(run: list[RankRecord]) -> list[RankRecord]:
    """Records without what a rank can have chosen: of all names only torch's own calls are kept."""
    return [
        dataclasses.replace(
            record,
            events=[_event(event) for event in record.events],
            computes=record.computes and f"f:{line(record.computes.rpartition(':')[2])}",
            stands=record.stands and f"f:{line(record.stands.rpartition(':')[2])}",
            stands_in=record.stands_in if record.stands_in in _CALLS else "",
            beside=record.beside and _beside(record.beside),
        )
        for record in run
    ]


def _beside(told: dict[str, Any]) -> dict[str, Any]:
    kind = told["type"] if told["type"] in _ERRORS else "Exception"
    frames = [{**frame, "function": "f", "line": line(frame["line"])} for frame in told["frames"]]
    return {"type": kind, "message": "", "frames": frames}


def _event(event: Event) -> Event:
    api = event.api if event.api in _CALLS or event.api in _INTERNAL else ""
    if event.internal and not api:
        api = "torch"
    return dataclasses.replace(
        event, api=api, function="f" if event.function else "", file="", note=_race(event),
        line=line(event.line), before=None, after=None,
    )  # fmt: skip


def _race(event: Event) -> str:
    if event.race is None:
        return ""
    how, where = event.race
    return f"{how} {line(where.rpartition(':')[2])} f"


def operations(said: str, size: int) -> str:
    """A sentence on what ranks wait in, with no names and numbers but those of torch's calls, of
    ranks and of lines.
    """
    said = said.replace("{", "").replace("}", "")  # from here on they mark the numbers of lines
    said = _WORD.sub(_place, said)
    said = _TENSOR.sub("", said)
    said = _CALL.sub(lambda m: f"{m[1] if m[1] in _CALLS else 'call'}(", said)
    said = _NUMBER.sub(lambda m: m[0] if m[0].isdigit() and int(m[0]) < size else "#", said)
    return said.replace("{", "").replace("}", "")


def _place(word: re.Match[str]) -> str:
    """A word with the line alone in place of each "name:line"."""
    *places, rest = _NUMBERED.split(word[0])  # name, line, name, line, …, what is left
    return "".join(f"line {{{line(number)}}}" for number in places[1::2]) + rest


def clipped(said: str, holds: Callable[[int], bool]) -> str:
    """A sentence on a hidden case without line numbers that the answer does not have: a rank has
    told them, and they could carry its input.
    """
    return _LINE.sub(lambda m: m[0] if holds(int(m[2])) else "" if m[1] else " a line", said)


def visible(said: str) -> str:
    """Text that can only be read: control characters, which move a terminal's cursor, and those
    that change the direction of writing are shown as escapes.
    """
    return _ACTIVE.sub(lambda m: ascii(m[0])[1:-1], said)


def visible_lines(said: str) -> str:
    """The same for text whose lines may end as on other systems."""
    return visible(said.replace("\r\n", "\n").replace("\r", "\n"))


def line(number: str | int) -> int:
    """A line number that a rank has told, limited to what can be one."""
    return min(max(int(number), 0), _LONGEST_LINE)
