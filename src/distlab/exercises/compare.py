"""Is what came out what was expected? Types, shapes, dtypes, then values within a tolerance."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from distlab.processes.payload import ODD_TENSOR, Foreign


@dataclass(frozen=True)
class Tolerance:
    """|got − expected| ≤ atol·max(1, largest |expected|) + rtol·|expected|, for floating-point
    numbers. Integers must be equal.

    The default covers float32 sums in another order, on CPU and GPU. The error of such a sum grows
    with its terms and not with the sum itself: an element in which large terms cancel out is no
    more exact than its large neighbours, so `atol` grows with the largest element of a tensor.

    Args:
        doubles: takes the place of both for float64 tensors, where a result that was float32 at
            some point is wrong.
    """

    rtol: float = 1e-4
    atol: float = 1e-5
    doubles: float | None = None

    def of(self, dtype: np.dtype) -> tuple[float, float]:
        """`rtol` and `atol` for tensors of this dtype."""
        if self.doubles is not None and dtype == np.float64:
            return self.doubles, self.doubles
        return self.rtol, self.atol


#: for exercises that move numbers and add them up, in whatever dtype they come. Not for means and
#: the like: an answer that multiplies by `torch.tensor(1 / 3)` has a float32 factor, and is right
KEEPS_FLOAT64 = Tolerance(doubles=1e-9)


@dataclass(frozen=True)
class Difference:
    """The first place where two trees differ.

    `kind`: "type", "shape", "dtype", "length", "keys", "nan" or "value". `where` is a path like
    `["loss"]` or `[2]`; empty for the returned value itself.
    """

    kind: str
    where: str
    expected: str
    got: str
    outline: str = "another value"  # `got` in words that no answer can choose
    several: bool = False  # is `expected` a plural?
    call: str = ""  # " in call 2 of 3", where the harness has made several
    number: bool = False  # are both sides a single number?

    def of_a_call(self, calls: int) -> Difference:
        """The same of an output that is a list of what each of so many calls returned: the place is
        one in what the call returned.
        """
        path = re.fullmatch(r"((?:\['returned'\])?)\[(\d+)\](.*)", self.where)
        if path is None:
            return self
        which = f" in call {int(path[2]) + 1} of {calls}" if calls > 1 else ""
        return replace(self, where=path[1] + path[3], call=which)

    def in_full(self) -> str:
        """The end of a sentence that begins with "rank 1", with both sides."""
        if state := self._state():
            wants, does = ("", " not") if self.expected == "True" else (" not", "")
            return f"should{wants} have left {state}, and did{does}"
        were = "were" if self.several else "was"
        return f"{self._found(self.got)} where {self.expected} {were} expected"

    def kind_only(self) -> str:
        """The same for hidden cases: without the expected side, without values and without the
        place, because an answer can choose where a wrong number stands, and so pass on a number.
        """
        if state := self._state():
            return f"is wrong in this: {state}"
        if self.kind in ("value", "nan"):
            wrong = "a wrong value" if self.number else "wrong values"
            return self._found("NaN" if self.kind == "nan" else wrong, placed=False)
        if self.kind == "keys":
            return self._found(f"{self.outline} than are asked for", placed=False)
        what = self._found(self.outline, placed=False)
        return f"{what}, which is not the {self.kind} that is asked for"

    def _found(self, what: str, placed: bool = True) -> str:
        """What was found and where. A harness may return, under names, both what the function
        returned and what it left behind.
        """
        name, place = _split(self.where)
        place = f" at {place}" if place and placed else ""
        if name in ("", "returned"):
            return f"returned {what}{place}{self.call if placed else ''}"
        if self.number and not place:
            return f"left the {name} at {what}"
        return f"left {what} in the {name}{place}"

    def _state(self) -> str:
        """What was found to be so or not, where a harness has returned whether it is."""
        name, place = _split(self.where)
        truths = {self.expected, self.got} == {"True", "False"}
        return name if truths and not place and name != "returned" else ""


def _split(where: str) -> tuple[str, str]:
    """(first key, the rest) of a path such as "['gradients'][2]"."""
    quote = where[1:2]
    if where[:1] != "[" or quote not in ("'", '"'):  # repr quotes a name with an apostrophe by "
        return "", where
    name, _, rest = where[2:].partition(f"{quote}]")
    return name, rest


def compare(expected: Any, got: Any, tolerance: Tolerance, where: str = "") -> Difference | None:
    """The first difference between two decoded payloads, or `None` when `got` is right.

    A list may stand for a tuple and an int for a float, but a bool never stands for a number and a
    number never for a tensor.
    """
    if isinstance(expected, np.ndarray):
        return _arrays(expected, got, tolerance, where)
    if isinstance(expected, dict):
        return _dicts(expected, got, tolerance, where)
    if isinstance(expected, (list, tuple)):
        return _sequences(expected, got, tolerance, where)
    if isinstance(expected, float):
        return _floats(expected, got, tolerance, where)
    # a text that is expected in place of what was returned is the harness's own words for it
    words = isinstance(expected, str) and _split(where)[0] in ("", "returned")
    wanted = expected if words else describe(expected)
    if type(expected) is not type(got):
        if type(got) is float:  # 2.0 for 2: alike when printed
            said = f"the float {got!r}"
        else:
            said = describe(got)
        return Difference("type", where, wanted, said, outline(got))
    if expected != got:
        plain = words and got and got.isprintable()  # else a text of the student's own
        said = got[:80] if plain else describe(got)
        return Difference("value", where, wanted, said, number=type(expected) is int)
    return None


def describe(value: Any) -> str:
    """A value in a few words."""
    if value is None:
        return "None"
    if isinstance(value, np.ndarray):
        if value.size <= 8:
            return _printed(value, 5)
        return f"a tensor of shape {value.shape} and dtype {value.dtype}"
    if isinstance(value, Foreign):
        odd = value.type_name.removeprefix(ODD_TENSOR)
        return f"an object of type {odd}" if odd == value.type_name else f"a tensor of {odd}"
    if isinstance(value, (list, tuple, dict, set)):
        return f"a {type(value).__name__} of {counted(len(value), 'item')}"
    if isinstance(value, float):
        return _printed(value, 7)
    return repr(value)[:80]


def _printed(value: Any, digits: int) -> str:
    """A number, or a tensor of a few."""
    if isinstance(value, np.ndarray):
        numbers = np.array2string(value, precision=digits, separator=", ")
        together = re.sub(r"(?<=\[) | (?=[,\]])", "", " ".join(numbers.split()))
        return f"tensor({together})"
    return str(value) if isinstance(value, int) else f"{value:.{digits}g}"


def _told_apart(expected: Any, got: Any, digits: int = 7) -> tuple[str, str]:
    """Two unequal numbers, or tensors, with more digits than usual where they would look alike."""
    for more in range(digits, 18):
        both = _printed(expected, more), _printed(got, more)
        if both[0] != both[1]:
            break
    return both


def counted(number: int, what: str) -> str:
    """ "1 message", "2 messages"."""
    return f"{number} {what}{'s' * (number != 1)}"


_KNOWN = {
    "numpy.ndarray", "builtins.function", "builtins.generator", "builtins.coroutine",
    "builtins.type",
    "distlab.rank.work.RecordedWork", "torch.nn.parameter.Parameter",
    *(f"{ODD_TENSOR}{odd}" for odd in (
        "dtype bfloat16", "dtype complex128", "dtype complex32", "dtype float8_e4m3fn",
        "dtype float8_e5m2", "layout sparse_coo", "layout sparse_csr",
    )),
}  # fmt: skip


def outline(value: Any) -> str:
    """What kind of value this is, for a message that must not repeat anything of the value."""
    if value is None:
        return "None"
    if isinstance(value, np.ndarray):
        return f"a tensor of {value.ndim} dimension{'s' * (value.ndim != 1)}"
    if isinstance(value, Foreign):
        return describe(value) if value.type_name in _KNOWN else "an object"
    article = "an" if type(value).__name__[:1] in "aeiou" else "a"
    return f"{article} {type(value).__name__}"


def _arrays(expected: np.ndarray, got: Any, tolerance: Tolerance, where: str) -> Difference | None:
    if isinstance(got, Foreign) and got.type_name.startswith(f"{ODD_TENSOR}dtype "):
        return Difference("dtype", where, str(expected.dtype), describe(got), outline(got))
    if not isinstance(got, np.ndarray):
        wanted = f"a tensor of shape {expected.shape}"
        return Difference("type", where, wanted, describe(got), outline(got))
    if expected.shape != got.shape:
        return Difference(
            "shape", where, f"shape {expected.shape}", f"a tensor of shape {got.shape}",
            _outline_of_shape(expected, got),
        )  # fmt: skip
    if expected.dtype != got.dtype:
        found = f"a tensor of dtype {got.dtype}"
        return Difference("dtype", where, str(expected.dtype), found, found)
    if np.array_equal(expected, got):  # takes a tenth of the time of what follows
        return None
    if expected.dtype.kind not in "fc":
        wrong = expected != got
    else:
        rtol, atol = tolerance.of(expected.dtype)
        atol *= _scale(expected)
        wrong = ~np.isclose(got, expected, rtol=rtol, atol=atol, equal_nan=True)
    if not wrong.any():
        return None
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    place = f"{where}[{', '.join(map(str, first))}]" if first else where
    if expected.size <= 8 and not where:
        return Difference(_kind(expected, got), where, *_told_apart(expected, got, digits=5))
    a, b = expected[first].item(), got[first].item()
    return Difference(_kind(expected, got), place, *_told_apart(a, b))


def _outline_of_shape(expected: np.ndarray, got: np.ndarray) -> str:
    if expected.ndim != got.ndim:
        return outline(got)
    pairs = zip(expected.shape, got.shape, strict=True)
    at = next(i for i, (one, other) in enumerate(pairs) if one != other)
    more = "more" if got.shape[at] > expected.shape[at] else "less"
    return f"a tensor with {more} than there should be along dimension {at}"


def _kind(expected: np.ndarray, got: np.ndarray) -> str:
    if got.dtype.kind in "fc" and (np.isnan(got) & ~np.isnan(expected)).any():
        return "nan"
    return "value"


def _dicts(
    expected: dict[Any, Any], got: Any, tolerance: Tolerance, where: str
) -> Difference | None:
    if not isinstance(got, dict):
        return Difference("type", where, describe(expected), describe(got), outline(got))
    shared = [key for key in expected if key in got]
    # compared first: a harness may leave out the other keys where the result is of a wrong kind
    first = shared if "returned" in expected else []
    for key in first:
        if difference := compare(expected[key], got[key], tolerance, f"{where}[{key!r}]"):
            return difference
    if set(expected) != set(got):
        told = _keys(expected), _keys(got), "a dict of other keys"
        return Difference("keys", where, *told, several=True)
    for key in shared if not first else []:
        if difference := compare(expected[key], got[key], tolerance, f"{where}[{key!r}]"):
            return difference
    return None


def _keys(value: dict[Any, Any]) -> str:
    return f"the keys {', '.join(sorted(map(repr, value)))[:200]}" if value else "no keys"


def _sequences(
    expected: Sequence[Any], got: Any, tolerance: Tolerance, where: str
) -> Difference | None:
    if not isinstance(got, (list, tuple)):
        return Difference("type", where, describe(expected), describe(got), outline(got))
    if len(expected) != len(got):
        more = "more" if len(got) > len(expected) else "fewer"
        return Difference(
            "length", where, counted(len(expected), "item"), counted(len(got), "item"),
            f"{more} items", several=len(expected) != 1,
        )  # fmt: skip
    for index, (left, right) in enumerate(zip(expected, got, strict=True)):
        difference = compare(left, right, tolerance, f"{where}[{index}]")
        if difference:
            return difference
    return None


def _floats(expected: float, got: Any, tolerance: Tolerance, where: str) -> Difference | None:
    if isinstance(got, bool) or not isinstance(got, (int, float)):
        return Difference("type", where, f"the number {expected:.7g}", describe(got), outline(got))
    try:
        got = float(got)
    except OverflowError:  # an int of hundreds of digits
        got = math.inf if got > 0 else -math.inf
    if np.isclose(got, expected, rtol=tolerance.rtol, atol=tolerance.atol, equal_nan=True):
        return None
    kind = "nan" if got != got else "value"
    return Difference(kind, where, *_told_apart(expected, got), number=True)


def _scale(expected: np.ndarray) -> float:
    """The largest absolute value among its finite elements, at least 1."""
    finite = np.abs(expected[np.isfinite(expected)])
    return max(1.0, float(finite.max(initial=0.0)))
