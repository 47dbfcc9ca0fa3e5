"""Hints that several exercises share, and questions that hints ask about a finished run."""

from __future__ import annotations

from typing import Any

import numpy as np

from distlab.exercises import sources
from distlab.exercises.compare import Tolerance, compare
from distlab.exercises.exercise import Hint, Look
from distlab.records import events, explain


def brought(look: Look) -> list[np.ndarray]:
    """The tensor or row that each rank was given."""
    found: list[Any] = [inputs.get("tensor", inputs.get("row")) for inputs in look.inputs]
    return found


def told_apart(look: Look) -> bool:
    """Do the inputs of ranks differ? Not with one rank, or without any elements."""
    return look.size > 1 and any(own is not None and own.size for own in brought(look))


def everywhere(look: Look, values: list[Any] | np.ndarray) -> bool:
    """Did each rank return its one of these values, or all of them this array, and was that wrong?
    (Not where the right values are the same ones, as on a single rank or without any elements.)
    """
    if not isinstance(values, list):
        values = [values] * look.size
    return all(map(look.same, values, look.returned)) and not all(
        map(look.same, values, look.wanted)
    )


def shapes(look: Look) -> list[tuple[int, ...] | None]:
    """The shape of what each rank returned; `None` where that is no tensor."""
    return [getattr(got, "shape", None) for got in look.returned]


def poisoned(value: Any) -> bool:
    """Does it hold what strict runs put into a buffer until its request has been waited for?"""
    if isinstance(value, dict):
        return any(map(poisoned, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(poisoned, value))
    if not isinstance(value, np.ndarray):
        return False
    if value.dtype.kind == "f":
        return bool(np.isnan(value).any())
    return value.dtype.kind == "i" and bool((value == np.iinfo(value.dtype).min).any())


def total(look: Look) -> np.ndarray:
    """The sum of what all ranks were given."""
    summed: np.ndarray = np.sum(brought(look), axis=0, dtype=brought(look)[0].dtype)
    return summed


def _none_for_something(wanted: Any, got: Any) -> bool:
    """Is there None somewhere where something else should be?"""
    if isinstance(wanted, dict) and isinstance(got, dict):
        return any(_none_for_something(item, got.get(key, 0)) for key, item in wanted.items())
    if isinstance(wanted, (list, tuple)) and isinstance(got, (list, tuple)):
        return any(map(_none_for_something, wanted, got))
    return got is None and wanted is not None


IN_PLACE = Hint(
    "result of an in-place call",
    lambda look: (
        bool(sources.result_taken(look.answer))
        and any(map(_none_for_something, look.expected, look.got))
    ),
    "dist.all_reduce, dist.broadcast and the like work in place: the result is in the tensor that "
    "you pass, and the call itself returns None. Go on with that tensor, not with what the call "
    "returns.",
)


def _single_in_between(look: Look) -> bool:
    """Is nothing wrong but that float64 results are only as exact as float32?"""
    asked = look.exercise.tolerance
    wider = Tolerance(asked.rtol, asked.atol)
    pairs = list(zip(look.expected, look.got, strict=True))
    return not all(look.same(want, got) for want, got in pairs) and all(
        compare(want, got, wider) is None for want, got in pairs
    )


SINGLE = Hint(
    "float32 in between",
    _single_in_between,
    "Numbers are float64 here, and these are right to the seven digits of float32 alone: on their "
    "way they were made float32, by float(), in a buffer of that dtype or by torch.tensor([…]).",
)


def holds_a_number(value: Any) -> bool:
    """Is it a tensor or a NumPy number, which may hold the right number and is not a plain one?"""
    kind = getattr(value, "type_name", "")
    return hasattr(value, "shape") or "ensor" in kind or kind.startswith("numpy.")


NOTHING = Hint(
    "nothing returned",
    lambda look: (
        all(got is None for got in look.returned) and any(want is not None for want in look.wanted)
    ),
    "Every rank returned None. Is there a `return` at the end of the function, and not only inside "
    "an `if`?",
)
NOTHING_HERE = Hint(
    "nothing returned on some ranks",
    lambda look: any(got is None and want is not None for want, got in look.pairs()),
    "Some ranks returned None: which way do they take through the function, and does it end in a "
    "`return` with a value?",
)
NUMBER = Hint(
    "number for tensor",
    lambda look: any(
        isinstance(got, (int, float)) and not isinstance(got, bool) and isinstance(want, np.ndarray)
        for want, got in look.pairs()
    ),
    "Return the tensor itself: .item(), float() and sum() over a tensor make a plain number of it, "
    "and dist.recv returns the rank that it has received from.",
)
REQUEST = Hint(
    "request for tensor",
    lambda look: any(
        (got is True and want is not None) or "Work" in getattr(got, "type_name", "")
        for want, got in look.pairs()
    ),
    "What came back is a request, or what its wait() returned, and no tensor: with isend, irecv "
    "and async_op=True the data is in the buffer that you passed in, once the request has been "
    "waited for.",
)
ARRAY = Hint(
    "array for tensor",
    lambda look: any(getattr(got, "type_name", "") == "numpy.ndarray" for got in look.returned),
    "A NumPy array came back where a tensor is asked for: leave out .numpy().",
)


def _other_dtypes(look: Look) -> list[tuple[str, str]]:
    """(returned, asked for) for each tensor that has the right shape and a wrong dtype."""
    return [
        (str(got.dtype), str(want.dtype))
        for want, got in look.pairs()
        if isinstance(got, np.ndarray)
        and isinstance(want, np.ndarray)
        and got.shape == want.shape
        and got.dtype != want.dtype
    ]


NOT_FLOAT32 = Hint(
    "float32 left",
    lambda look: any(
        want == "float32" and got in ("int64", "float64") for got, want in _other_dtypes(look)
    ),
    "float32 is asked for. torch makes int64 tensors of whole numbers, dtype=int and .long(), "
    "and float64 ones of NumPy's numbers; torch.zeros(shape) and torch.tensor(1.0) are float32.",
)
DTYPE = Hint(
    "other dtype",
    lambda look: bool(_other_dtypes(look)),
    explain.HINTS["message-dtype"],
)


def _changed_on_its_way(look: Look) -> bool:
    """Did anything write into a tensor while it was being sent?"""
    return any(
        event.flags & events.CHANGED or (event.race is not None and event.race[0] == "changed")
        for event in look.events("send")
    )


def _read_on_its_way(look: Look) -> bool:
    """Did anything read a buffer that was still to be filled? To send it on counts as well."""
    return any(e.race is not None and e.race[0] == "read" for e in look.events() if e.op != "send")


EARLY = Hint(
    "read before wait",
    lambda look: (
        poisoned(look.returned)
        and not all(e.blocking for e in look.events())
        and (_read_on_its_way(look) or not _changed_on_its_way(look))
    ),
    "The buffer was read before its request had been waited for: until wait() returns, its content "
    "is undefined.",
)
FUNCTIONAL = Hint(
    "functional collective never waited",
    lambda look: any(e.internal and not (e.waited or e.done) for e in look.events()),
    "A functional collective is waited for where its result is first used, or by wait_tensor() of "
    "the same module. Do so on every rank, also where nothing is done with the result.",
)
#: given by `judge` where a receive or a collective was under way: its buffer then holds anything
UNDER_WAY = Hint(
    "used before wait",
    lambda look: False,
    "Until wait() returns, a buffer belongs to the operation that is under way: what is read there "
    "or written into it is a matter of luck. Wait first: whether anything else is wrong will show.",
)
UNWAITED = Hint(
    "never waited",
    lambda look: any(not (event.waited or event.done) for event in look.events()),
    "isend, irecv and async_op=True return a request. Keep every one of them, and call its wait() "
    "before the function returns, on the sending side too.",
)
CHANGED = Hint(
    "send buffer changed",
    _changed_on_its_way,
    "A tensor was changed while it was being sent: until send returns, or the wait() of isend's "
    "request, it belongs to the message on its way. What arrives needs a tensor of its own.",
)


def _not_begun(value: Any) -> bool:
    """Is there a generator or a coroutine somewhere in it?"""
    if isinstance(value, dict):
        return any(map(_not_begun, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_not_begun, value))
    return getattr(value, "type_name", "") in ("builtins.generator", "builtins.coroutine")


NOT_BEGUN = Hint(
    "nothing computed yet",
    lambda look: any(map(_not_begun, look.returned)),
    "A generator has computed nothing yet. It comes from a function with `yield`, from (… for …) "
    "in round brackets, or from model.parameters(): list(…) makes a list of it. A call of an "
    "`async def` computes nothing either: leave `async` out.",
)
COMMON = (NOTHING, NOTHING_HERE, NUMBER, REQUEST, ARRAY, NOT_FLOAT32, DTYPE)
#: what `distlab.exercises.defaults` puts before and behind the hints of every exercise, and between
#: these and the last of exercises that have rules on traffic
FIRST = (IN_PLACE, SINGLE, NOT_BEGUN)
MESSAGES = (EARLY, CHANGED)
LAST = (*COMMON, FUNCTIONAL, UNWAITED)


MEAN_FOR_SUM = Hint(
    "mean for sum",
    lambda look: (
        told_apart(look) and everywhere(look, (total(look) / look.size).astype(total(look).dtype))
    ),
    "This is the mean: the sum is asked for, so nothing is divided.",
)


def own_tensor(says: str) -> Hint:
    """Each rank returned what it was given."""
    return Hint(
        "own tensor",
        lambda look: told_apart(look) and everywhere(look, brought(look)),
        says,
    )
