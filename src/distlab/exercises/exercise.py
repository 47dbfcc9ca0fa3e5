"""What an exercise asks: its cases, and the rules and hints for a finished run.

An `Exercise` says how inputs are made, how a student's function is called on a rank, which traffic
it may cause, and what the well-known wrong answers look like. A `Case` is one world size and one
set of inputs, a `Look` a finished run as rules and hints see it. `distlab.exercises.judge` decides
whether an answer is right.

Nothing here imports torch or runs student code: inputs and outputs are NumPy arrays and plain
values.
"""

from __future__ import annotations

import ast
import hmac
import json
import math
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from distlab.exercises import raised
from distlab.exercises.compare import Tolerance, compare
from distlab.processes import payload, repetition
from distlab.processes.repetition import Kept
from distlab.records.events import Event, RankRecord

DEADLINE = 10.0  # seconds that an exercise may take over all its cases
#: under this name a harness returns what a message carried beside its tensor
#: (`distlab.rank.stamps`); where that is wrong, a rule on messages says more
BROUGHT = "number that came along with the message"


#: Inputs of more elements than this repeat their first `BLOCK`. They are large only so that back
#: ends do not buffer them, and need not make references large.
LARGE, BLOCK = 1 << 16, 4096


#: inputs as they were drawn, `LARGE` ones as a block and a shape; kept only where a process asks
drawn = Kept()


@dataclass(frozen=True)
class _Repeated:
    block: np.ndarray
    shape: tuple[int, ...]


def _short(values: Any) -> Any:
    """Inputs as they are kept."""
    if isinstance(values, np.ndarray):
        if values.size > LARGE:
            return _Repeated(values.ravel()[:BLOCK].copy(), values.shape)
        return values if values.base is None else values.copy()  # a view keeps all that it is of
    return _each(_short, values)


def _whole(values: Any) -> Any:
    """Inputs as they are given out: copies, so that changing them changes nobody else's."""
    if isinstance(values, np.ndarray):
        return values.copy()
    if isinstance(values, _Repeated):
        return repetition.resized(values.block, values.shape)
    return _each(_whole, values)


def _each(call: Callable[[Any], Any], values: Any) -> Any:
    if isinstance(values, dict):
        return {name: call(value) for name, value in values.items()}
    if isinstance(values, (list, tuple)):
        return type(values)(map(call, values))
    return values


def _with_tuples(output: Any, depth: int) -> Any:
    """An output with its lists at this depth as tuples. A harness may give what was returned beside
    other things; only in what was returned are lists replaced.
    """
    if isinstance(output, dict):
        own = {"returned"} if "returned" in output else set(output)
        return {k: _with_tuples(v, depth) if k in own else v for k, v in output.items()}
    if not isinstance(output, list):
        return output
    return [_with_tuples(item, depth - 1) for item in output] if depth else tuple(output)


def _bytes(values: Any) -> int:
    """About how much memory inputs take that are kept."""
    if isinstance(values, dict):
        return 100 + sum(map(_bytes, values.values()))
    if isinstance(values, (list, tuple)):
        return 100 + sum(map(_bytes, values))
    if isinstance(values, _Repeated):
        return 200 + values.block.nbytes
    return 100 + (values.nbytes if isinstance(values, np.ndarray) else sys.getsizeof(values))


@dataclass(frozen=True)
class Case:
    """One world size and one set of inputs.

    Every stream of random numbers has a key of its own, which HMAC-SHA256 makes of the case's key
    and of what the stream is for. Whoever works out the state of one stream from its numbers knows
    nothing about any other, in particular not about another rank's.

    Args:
        seed: tells cases of the same size and parameters apart. It decides the random numbers of a
            visible case; those of a hidden one are decided by `entropy`.
        params: JSON values that `make` understands.
        entropy: 128 bits that only the course's secret gives. They never leave the judge: ranks get
            the inputs that were made of them.
    """

    size: int
    seed: int = 0
    params: Mapping[str, Any] = field(default_factory=dict)
    hidden: bool = False
    entropy: bytes = field(default=b"", repr=False)

    @property
    def key(self) -> str:
        """The name that reference outputs are filed under. It tells nothing about a hidden case's
        random numbers.
        """
        return json.dumps([self.size, self.seed, dict(self.params)], sort_keys=True)

    def get(self, name: str, default: Any = None) -> Any:
        return self.params.get(name, default)

    def _derived(self, *purpose: str | int) -> int:
        """128 bits for one purpose."""
        own = self.entropy or f"visible case {self.seed}".encode()
        label = json.dumps([*purpose, self.size]).encode()
        return int.from_bytes(hmac.digest(own, label, "sha256")[:16], "big")

    def generator(self, rank: int = -1, stream: int = 0) -> np.random.Generator:
        """Random numbers for what all ranks share, or for one rank's own input.

        Args:
            stream: for a rank with several inputs, each of which needs numbers of its own.
        """
        return np.random.Generator(np.random.Philox(key=self._derived("numbers", rank, stream)))

    def number(self, below: int = 10_000, rank: int = -1) -> int:
        """A seed for something that is made on the ranks, or for a student's function; in a visible
        case, its own seed. Ranks see it as they see inputs: nothing else can be worked out from it.
        """
        if not self.entropy:
            return self.seed if rank < 0 else 100 * self.seed + rank
        return 100 + self._derived("seed", rank) % (below - 100)

    def draw(
        self, rank: int = -1, shape: Sequence[int] = (4,), dtype: str = "float32"
    ) -> np.ndarray:
        """A random array: standard normal, or integers from −9 to 9. A `LARGE` one of one dimension
        repeats its first `BLOCK` numbers (not one of rows, which could then be equal).
        """
        generator, count = self.generator(rank), math.prod(shape)
        drawn = BLOCK if count > LARGE and len(shape) == 1 else count
        if np.dtype(dtype).kind == "i":
            numbers: np.ndarray = generator.integers(-9, 10, drawn)
        else:
            numbers = generator.standard_normal(drawn)
        return np.resize(numbers.astype(dtype), tuple(shape))

    def told(self, begins: bool = False) -> str:
        """How a message mentions this case, at its beginning or within it; of a hidden case only
        the world size is told.
        """
        ranks = f"{'On' if begins else 'on'} {self.size} rank" + ("s" if self.size != 1 else "")
        if self.hidden:
            return f"{'In' if begins else 'in'} a hidden case {ranks.lower()}"
        return f"{ranks} ({self.given})" if self.given else ranks

    @property
    def given(self) -> str:
        """Its parameters in words; hidden ones too."""
        return _in_words(dict(self.params))


def _in_words(value: Any) -> str:
    """A parameter of a case as a message tells it; what is `None` in a dict is left out."""
    if isinstance(value, dict):
        return ", ".join(_named(name, one) for name, one in value.items() if one is not None)
    if not isinstance(value, list):
        return f"{value:.10g}" if isinstance(value, float) else str(value)
    words = [_in_words(one) for one in value]
    if len({*map(type, value)}) > 1 and any(isinstance(one, str) for one in value):
        return " ".join(words)
    phrases = any("," in word and word[0] != "[" for word in words)
    return f"[{('; ' if phrases else ', ').join(words)}]"


def _named(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return f"{'' if value else 'no '}{name.replace('_', ' ')}"
    return f"{name} {_in_words(value)}"


def _under(name: str, output: Any) -> Any:
    return output.get(name) if isinstance(output, dict) else None


def _returned(output: Any) -> Any:
    """What a function returned, which a harness may give beside other things."""
    return output["returned"] if isinstance(output, dict) and "returned" in output else output


@dataclass
class Look:
    """A finished run as rules and hints see it. Lists are by rank. `answer` is the syntax tree of
    the function that was asked for, where its source is known.
    """

    exercise: Exercise
    case: Case
    inputs: list[dict[str, Any]]
    expected: list[Any]
    got: list[Any]
    records: list[RankRecord]
    answer: ast.AST | None = None

    @property
    def size(self) -> int:
        return self.case.size

    @property
    def ranks(self) -> range:
        return range(self.case.size)

    def same(self, left: Any, right: Any) -> bool:
        """Would these two outputs be judged equal?"""
        return compare(left, right, self.exercise.tolerance) is None

    def given(self, name: str) -> list[Any]:
        """What each rank was given under this name."""
        return [inputs[name] for inputs in self.inputs]

    def left(self, name: str) -> list[Any]:
        """What each rank's harness found under this name; `None` where it did not get so far."""
        return [_under(name, got) for got in self.got]

    def asked(self, name: str) -> list[Any]:
        """What it should have found there."""
        return [_under(name, expected) for expected in self.expected]

    @property
    def returned(self) -> list[Any]:
        """What the function returned, by rank."""
        return [_returned(got) for got in self.got]

    @property
    def wanted(self) -> list[Any]:
        """What it should have returned, by rank."""
        return [_returned(expected) for expected in self.expected]

    def pairs(self, name: str = "returned") -> list[tuple[Any, Any]]:
        """(what is asked for, what was found) under this name, by rank."""
        if name == "returned":
            return list(zip(self.wanted, self.returned, strict=True))
        return list(zip(self.asked(name), self.left(name), strict=True))

    def differs(self, *names: str) -> bool:
        """Did some rank leave under one of these names something else than what is asked for? Not
        where its harness did not get so far.
        """
        return any(
            name in got and not self.same(want[name], got[name])
            for want, got in zip(self.expected, self.got, strict=True)
            for name in names
        )

    def right_but(self, *names: str) -> bool:
        """Is all right but what is under these names?"""
        return not self.differs(*(self.expected[0].keys() - set(names)))

    def ranks_differ(self, name: str) -> bool:
        """Do the ranks disagree on what is under this name, as far as they got there?"""
        found = [got[name] for got in self.got if name in got]
        return any(not self.same(found[0], other) for other in found)

    def events(self, *ops: str) -> list[Event]:
        """All events of all ranks, of these operations where any are named."""
        return [e for record in self.records for e in record.events if not ops or e.op in ops]


#: Returns a sentence that says what is wrong, or `None`.
Rule = Callable[[Look], "str | None"]


@dataclass(frozen=True)
class Hint:
    """A well-known wrong answer: how to recognise it, and what helps the student.

    `shows` is asked only when an answer is known to be wrong. `says` is where to look; it must not
    contain the solution.
    """

    name: str
    shows: Callable[[Look], bool]
    says: str


def positional(function: Callable[..., Any], rank: int, size: int, inputs: dict[str, Any]) -> Any:
    """Call an exercise the usual way: rank, size, then its inputs in order."""
    return function(rank, size, *inputs.values())


@dataclass(frozen=True)
class Exercise:
    """What one exercise asks.

    Args:
        make: the inputs of each rank, a list of dicts of arrays and JSON values.
        call: calls the student's function on a rank, with arrays as tensors, and returns what is
            compared: a tree of tensors and plain values.
        asks: one sentence in a beginner's words, for messages: "each rank returns its partner's
            tensor".
        visible: the cases that the student sees run.
        rules: what else must hold.
        traffic: rules on what the ranks send; none where any traffic will do. With them, empty or
            not, everything that was begun has to be waited for, no tensor may change on its way,
            and the hints on messages follow the exercise's own (`distlab.exercises.defaults`).
        advice: what helps after exceptions, besides what `raised` has for all.
        group: whether the default process group is initialised on the ranks before.
        needs: frameworks besides torch, by their names in `distlab.processes.frameworks`.
        processes: how many processes and threads its runtime starts, where that is more than the
            usual limit.
        forks: `call` forks the rank; with a framework loaded that is safe on Linux only.
        unrecorded: `call` runs collectives of its own that are not recorded (`recording.paused`).
        stamped: messages carry a number of the course's beside their tensor
            (`distlab.rank.stamps`).
        schedules: judge every order in which messages can arrive, where an answer receives from any
            source. To be switched off where the clock decides what is right.
        share: what a rank is given of its inputs, as `share(inputs, rank, size)`, where rules and
            hints need more than that. (A rank that had another's input would need no message.)
        left_open: what the visible cases do not judge, in a sentence for those who pass them.
        tuples: where the contract asks for a tuple: how many lists are around it. References hold
            only lists, and messages should call a tuple what the exercise calls it.
        calls: the harness calls the function once or several times in a case, and gives a list of
            what each call returned: messages say which call it was, not which item of that list.
        formula: the function gets its inputs and nothing else: messages write its call.
        name, lab: the function's name, and the assignment's ("01-message-passing"). They follow
            from its file and its folder: `distlab.course.exercises` fills them in.
    """

    points: int
    make: Callable[[Case], list[dict[str, Any]]]
    asks: str
    visible: tuple[Case, ...]
    call: Callable[..., Any] = positional
    rules: tuple[Rule, ...] = ()
    traffic: tuple[Rule, ...] | None = None
    hints: tuple[Hint, ...] = ()
    advice: tuple[raised.Advice, ...] = ()
    tolerance: Tolerance = Tolerance()
    group: bool = True
    deadline: float = DEADLINE
    needs: tuple[str, ...] = ()
    processes: int = 0
    forks: bool = False
    unrecorded: bool = False
    stamped: bool = False
    schedules: bool = True
    share: Callable[[dict[str, Any], int, int], dict[str, Any]] | None = None
    left_open: str = ""
    tuples: int | None = None
    calls: bool = False
    formula: bool = False
    name: str = ""
    lab: str = ""

    @property
    def id(self) -> str:
        return f"{self.lab}/{self.name}"

    def asked(self, outputs: list[Any]) -> list[Any]:
        """Outputs as references have them, with the tuples that the contract asks for."""
        if self.tuples is None:
            return outputs
        return [_with_tuples(output, self.tuples) for output in outputs]

    @property
    def measured(self) -> bool:
        """Is what went over the network compared with the records, where that can be seen?"""
        return bool(self.rules) and self.group

    @property
    def shares_ranks(self) -> bool:
        """May it run on ranks on which other exercises of the same notebook have run? Not if it is
        about processes, or needs a framework that can be set up only once in a process.
        """
        return self.group and not self.needs and not self.forks

    def inputs(self, case: Case) -> list[dict[str, Any]]:
        """The inputs of each rank. `LARGE` arrays among them cannot be written to."""
        # the key is complete: `make` must depend on the case alone, or references would not fit
        key = self.make, case.key, case.hidden, case.entropy
        short = drawn.get(key)
        if short is None:
            made = self.make(case)
            if len(made) != case.size:
                raise ValueError(f"{self.id} made inputs for {len(made)} ranks, not {case.size}")
            short = _short(made)
            drawn.put(key, short, _bytes(short))
        inputs: list[dict[str, Any]] = _whole(short)
        return inputs

    def payloads(self, inputs: list[dict[str, Any]]) -> list[bytes]:
        """What each rank is given of these inputs, encoded."""
        if self.share is not None:
            inputs = [self.share(values, rank, len(inputs)) for rank, values in enumerate(inputs)]
        return [payload.encode(values) for values in inputs]

    def fingerprint(self, case: Case) -> int:
        """A checksum of a case's inputs: outputs of other inputs are no reference for it."""
        made = self.inputs(case)
        return zlib.crc32(b"".join(payload.encode(values, shorten=False) for values in made))
