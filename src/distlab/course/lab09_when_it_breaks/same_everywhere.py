"""Lab 09, `same_everywhere`: do all ranks hold the same, to the last bit?

A case is a list of situations, each with tensors that are the same on all ranks or differ on one of
them in the way that its name says.
"""

from __future__ import annotations

import builtins
import contextlib
from collections.abc import Callable
from typing import Any

from distlab.exercises import hints
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.numpy_ints import as_plain
from distlab.rank.sharing import among_ranks
from distlab.records.events import Event

A_TENSOR, A_CALL = 64, 256  # bytes that a rank may give for each of its tensors, and beyond that
#: elements of the large tensors: far more than a rank may give, and few enough for those who go
#: through them byte by byte, as bytes(tensor.untyped_storage()) does (1.2 MB took it three seconds)
LARGE = 5_000

EQUAL = (
    "equal",
    "equal, in other strides",
    "equal, one requires a gradient",
    "equal, with NaN",
    "equal, large",
    "equal, empty ones among them",
    "nothing anywhere",
)
DIFFERENT = (
    "last bit", "minus zero", "another NaN", "swapped elements", "swapped tensors", "more and less",
    "shape", "empty shape", "scalar or not", "dtype", "dtype of one width", "cut elsewhere",
    "one more", "one more, empty", "nothing on one rank", "last of many", "two and two",
    "last bit of a double", "last bit of a large int",
)  # fmt: skip
#: as many tensors as a model has: the limit for each of them counts there
IN_A_MODEL, TENSORS = "one bit of a model", 300
#: many calls with equal lists, and then one with two of those lists for which ranks had given the
#: same: a digest of few values has such two
ALIKE, ONE_OF_MANY, MANY = "two of many", "one of many", 100
PATIENCE = 10.0  # seconds that ranks wait for what the others gave


def _inputs(case: Case) -> list[dict]:
    given = {"seed": case.number(2**31), "odd": case.get("odd", case.size - 1)}
    situations: list[str] = []
    for name in case.params["situations"]:
        situations += [ONE_OF_MANY] * MANY * (name == ALIKE) + [name]
    return [given | {"situations": situations}] * case.size


def _call(function, rank: int, size: int, inputs: dict[str, Any]) -> dict[str, Any]:
    returned, counts, odd = [], [], inputs["odd"]
    with _hash_of_a_process(rank), _noted() as gave:
        for number, name in enumerate(inputs["situations"]):
            if name == ALIKE:
                number += _two_alike(gave[-MANY:], rank, size)[rank == odd] - MANY
            tensors = _made(name, rank, size, odd, inputs["seed"] + number)
            counts.append(len(tensors))
            gave.append([])
            returned.append(as_plain(function(rank, size, tensors)))
    return {"returned": returned, "number of tensors": counts}


@contextlib.contextmanager
def _noted():
    """A list, in whose last item stands what this rank gives to its calls, as checksums."""
    from distlab.rank import buffers, recording

    recorder: Any = recording.active()
    begin, gave = recorder.begin, []

    def noting(op, group, tensor=None, *args, **kwargs):
        if tensor is not None and op != "recv":
            gave[-1].append(buffers.sample(tensor)[1])
        return begin(op, group, tensor, *args, **kwargs)

    recorder.begin = noting
    try:
        yield gave
    finally:
        del recorder.begin


def _two_alike(gave: list[list[int]], rank: int, size: int) -> tuple[int, int]:
    """Two calls to which each rank gave the same, or any two if there are none."""
    told = among_ranks("given", rank, size, lambda: gave, PATIENCE)
    first: dict[str, int] = {}
    for number, given in enumerate(zip(*filter(None, told), strict=True)):
        if (other := first.setdefault(repr(given), number)) != number:
            return other, number
    return 0, 1


@contextlib.contextmanager
def _hash_of_a_process(rank: int):
    """Let `hash` give different numbers for strings and bytes on each rank. In processes that were
    started one by one it does; in processes forked from one, as here, it does not.
    """
    plain = builtins.hash

    def of_this_process(value):
        method: Any = type(value).__hash__  # subclasses too, unless they have one of their own
        if method in (str.__hash__, bytes.__hash__):
            return plain((rank + 1, value))
        for kind in (tuple, frozenset):
            if method is kind.__hash__:
                return plain(kind(map(of_this_process, value)))
        return plain(value)

    builtins.hash = of_this_process
    try:
        yield
    finally:
        builtins.hash = plain


def _made(name: str, rank: int, size: int, odd: int, seed: int) -> list:
    """This rank's tensors in a situation; `odd` is the rank whose tensors differ."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    base = [
        torch.randn(3, 4, generator=generator),
        torch.randint(-9, 10, (5,), generator=generator),
        torch.randn(4, generator=generator).to(torch.bfloat16),
    ]
    differs = rank >= size // 2 if name == "two and two" else rank == odd
    if name in (ALIKE, ONE_OF_MANY):
        return [torch.randn(4, generator=generator)]
    if name == IN_A_MODEL:
        model = [torch.randn(1 + n % 3, generator=generator) for n in range(TENSORS)]
        model[-20].view(torch.int32)[0] ^= int(differs)
        return model
    if name in EQUAL:
        return _equal(name, base, differs, generator)
    if name == "more and less":  # the mean over the ranks is the value of a rank in the middle
        base[0][0, 0] = 8.0 + rank - (size - 1) / 2
        return base
    return _different(base, generator)[name][differs]


def _equal(name: str, base: list, differs: bool, generator) -> list:
    import torch

    if name == "nothing anywhere":
        return []
    if name == "equal, large":
        return [torch.randn(LARGE, generator=generator)]
    if name == "equal, in other strides":
        wide = torch.randn(6, 8, generator=generator)
        other = wide.t().contiguous().t() if differs else wide
        return [*base, other[:, ::2], other[1]]
    if name == "equal, one requires a gradient":
        return [torch.nn.Parameter(base[0], requires_grad=differs), *base[1:]]
    if name == "equal, with NaN":
        base[0][1, 2] = float("nan")
        base[0][0, 0] = float("inf")
        return base
    if name == "equal, empty ones among them":
        return [torch.empty(0), base[0], torch.empty(0, 3), torch.tensor(2.5), base[2]]
    return [
        *base,
        torch.tensor([True, False, True]),
        torch.randn(2, generator=generator).double(),
        torch.randn(3, generator=generator).half(),
        torch.tensor(7, dtype=torch.int32),
        torch.complex(base[0][0], base[0][1]),
        torch.tensor([1, 2, 255], dtype=torch.uint8),
    ]


def _different(base: list, generator) -> dict[str, tuple[list, list]]:
    """What most ranks hold in each situation, and what the odd one does."""
    import torch

    first, *others = base

    def put(number: float, dtype: torch.dtype = torch.float32) -> list:
        """`base` with another number, or with other bits, at one place."""
        changed = first.clone()
        changed.view(dtype)[2, 1] = number
        return [changed, *others]

    bits = first.view(torch.int32)[2, 1].item()
    swapped = first.flatten()[[11, *range(1, 11), 0]].reshape(3, 4)
    row = torch.randn(22, generator=generator)
    cut = torch.randn(13, generator=generator)
    large = torch.randn(LARGE, generator=generator)
    more = torch.cat([large[:-1], large[-1:] + 1])
    double = torch.randn(3, generator=generator).double()
    flipped = (double.view(torch.int64) ^ torch.tensor([0, 1, 0])).view(torch.float64)
    whole, half = torch.tensor([2**62, -(2**60)]), torch.zeros(4).half()
    return {
        "last bit": (base, put(bits ^ 1, torch.int32)),
        "minus zero": (put(0.0), put(-0.0)),
        "another NaN": (put(0x7FC00000, torch.int32), put(0x7FC00001, torch.int32)),
        "swapped elements": (base, [swapped, *others]),
        "swapped tensors": ([first, first + 1], [first + 1, first]),
        # 1112, if nothing stands between the lengths, and 112
        "shape": ([row.reshape(1, 11, 2), *others], [row.reshape(11, 1, 2), *others]),
        "cut elsewhere": ([*cut.split([1, 12])], [*cut.split([11, 2])]),
        "empty shape": ([*base, torch.empty(0, 3)], [*base, torch.empty(0)]),
        "scalar or not": ([*base, torch.tensor(1.5)], [*base, torch.tensor([1.5])]),
        "dtype": ([*base, half], [*base, torch.zeros(4)]),
        "dtype of one width": ([*base, half], [*base, torch.zeros(4).bfloat16()]),
        "one more": (base, [*base, torch.ones(2)]),
        "one more, empty": (base, [*base, torch.empty(0)]),
        "nothing on one rank": ([first, first + 1], []),
        "last of many": ([large], [more]),
        "two and two": (base, put(first[2, 1].item() + 1)),
        "last bit of a double": ([*base, double], [*base, flipped]),
        "last bit of a large int": ([*base, whole], [*base, whole + torch.tensor([0, 1])]),
    }


# traffic


def given(event: Event) -> int:
    """The bytes that a rank gave to a call."""
    if event.op in ("recv", "barrier", "new_group"):
        return 0
    if event.op in ("broadcast", "scatter") and event.peer != event.rank:
        return 0
    # of a scatter one piece is on record, and its root gives one to each rank
    return event.nbytes * (len(event.group) if event.op == "scatter" else 1)


def gives_little(look: Look) -> str | None:
    """At most 64 bytes for each of a rank's tensors and 256 bytes, in each situation."""
    if look.size == 1:
        return None
    for rank, counts in enumerate(look.asked("number of tensors")):
        most = A_TENSOR * sum(counts) + A_CALL * len(counts)
        found = sum(given(event) for event in look.records[rank].events)
        if found > most:
            return (
                f"rank {rank} gave {found} bytes to its calls, where {most} are the most: "
                f"{A_TENSOR} for each of its {sum(counts)} tensors and {A_CALL}"
                + (" for each of the calls of the function." if len(counts) > 1 else ".")
            )
    return None


# what hints ask


def _said(answer: bool, *names: str):
    """A hint's `shows`: was this wrongly said of one of these situations?"""
    return lambda look: any(
        returned != right and returned == answer and name in names
        for told in zip(look.given("situations"), look.wanted, look.returned, strict=True)
        for name, right, returned in zip(*told, strict=True)
    )


def _any(test: Callable[[Any], bool]):
    """A hint's `shows`: is this so of one of the answers?"""
    return lambda look: any(test(one) for answers in look.returned for one in answers)


exercise = Exercise(
    points=3,
    make=_inputs,
    call=_call,
    calls=True,
    deadline=30.0,  # a group for each of the many calls of a case takes half of 10 s under load
    rules=(gives_little,),
    asks="same_everywhere returns True on every rank when all ranks hold the same tensors, in "
    "number, shapes, dtypes and all bits, and else False on every rank; a rank gives at most 64 "
    "bytes for each of its tensors and 256 bytes to all its calls together.",
    visible=(
        Case(2, 1, {"situations": ["equal"]}),
        Case(2, 2, {"situations": ["last bit"], "odd": 0}),
        Case(3, 3, {"situations": ["equal, in other strides", "shape", "one more"]}),
        Case(3, 4, {"situations": ["equal, with NaN", "minus zero", "swapped elements"]}),
        Case(2, 5, {"situations": ["equal, large", "last of many"]}),
    ),
    hints=(
        hints.NOTHING,
        Hint(
            "None on some ranks", _any(lambda one: one is None),
            "A rank returned None. Every rank has to return True or False: is there a `return` on "
            "every way through the function, and not only inside an `if`?",
        ),
        Hint(
            "no bool", _any(lambda one: type(one) is not bool),
            "Return True or False, not a tensor or a number: bool(…) makes one of either.",
        ),
        Hint(
            "ranks disagree",
            lambda look: any(
                len(set(map(repr, answers))) > 1 for answers in zip(*look.returned, strict=True)
            ),
            "The ranks returned different answers. When any rank's tensors differ, all have to "
            "say False: each has to compare what all ranks told, not only its own with one other.",
        ),
        Hint(
            "strides", _said(False, "equal, in other strides"),
            "These tensors hold the same elements and lie differently in memory. Go by the "
            "elements in their order: contiguous() brings them into it.",
        ),
        Hint(
            "NaN", _said(False, "equal, with NaN"),
            "NaN == NaN is False, and still both are the same bits: compare bits, not values.",
        ),
        Hint(
            "never the same", _said(False, *EQUAL),
            "All ranks hold the same here. Does what you compare depend on the process, as "
            "Python's hash() of a text and id() do, or on more than number, shapes, dtypes and "
            "bits?",
        ),
        Hint(
            "values for bits", _said(True, "minus zero", "another NaN"),
            "0.0 == -0.0 is True, and one NaN prints like another, and still their bits differ. "
            "Compare bits, not values.",
        ),
        Hint(
            "order lost",
            _said(True, "swapped elements", "swapped tensors", "more and less", "two and two"),
            "Other tensors gave the same sum (or XOR). What you compare has to depend on every "
            "bit and on its place: a cryptographic hash, as hashlib has them, does.",
        ),
        Hint(
            "shape or dtype", _said(
                True, "shape", "empty shape", "scalar or not", "dtype", "dtype of one width",
                "cut elsewhere", "one more, empty"),
            "The bytes are the same here, and the shape, the dtype or the number of tensors is "
            "not: they have to go into the comparison too. (Put something between them: lengths "
            "1 and 12 read like 11 and 2 where nothing stands there.)",
        ),
        Hint(
            "number of tensors", _said(True, "one more", "nothing on one rank"),
            "One rank has another number of tensors. zip stops at the shorter list.",
        ),
        Hint(
            "not all of it", _said(
                True, "last bit", "last bit of a double", "last bit of a large int",
                "last of many", IN_A_MODEL),
            "One element differs in one bit, and it was not noticed: every element of every tensor "
            "has to go into the comparison, with all its bits. (float32 has too few of them for a "
            "float64 or a large int, and a float64 for a large int.)",
        ),
        Hint(
            "short digest", _said(True, ALIKE),
            "Different tensors gave the same digest, because it has only few different values: one "
            "byte has 256. Let more of its bytes travel: 64 for each tensor are allowed.",
        ),
        Hint(
            "too many bytes", lambda look: gives_little(look) is not None,
            "That is too much. Do the tensors themselves travel? A model is large: let each rank "
            "work out one short digest of all that it holds, and compare those. A digest can take "
            "more bytes on its way than it has: as a text, as a tensor of a wide dtype, or where "
            "it is given more than once.",
        ),
    ),
)  # fmt: skip
