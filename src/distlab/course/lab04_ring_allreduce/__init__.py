"""Lab 04: what its exercises ask. Rules and hints on rings are in `rings`, the parameter servers in
`parameter_server`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from distlab.course.lab04_ring_allreduce import rings
from distlab.course.lab04_ring_allreduce.parameter_server import (
    async_parameter_server,
    sync_parameter_server,
)
from distlab.exercises import hints, traffic
from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.hints import everywhere, own_tensor, returned, told_apart, total

LAB = "04-ring-allreduce"


# inputs


def _chunks_of_each_rank(case: Case) -> list[dict]:
    shape, dtype = case.get("shape", [2]), case.get("dtype", "float32")
    return [
        {"chunks": list(case.draw(rank, [case.size, *shape], dtype))} for rank in range(case.size)
    ]


def _one_chunk_of_each_rank(case: Case) -> list[dict]:
    """After a reduce-scatter: rank r has chunk r + 1, and the others hold anything."""
    shape, dtype = case.get("shape", [2]), case.get("dtype", "float32")
    inputs = []
    for rank in range(case.size):
        chunks = list(case.draw(rank, [case.size, *shape], dtype) + np.dtype(dtype).type(100))
        chunks[(rank + 1) % case.size] = case.draw(100 + rank, shape, dtype)
        inputs.append({"chunks": chunks})
    return inputs


def _tensor_of_each_rank(case: Case) -> list[dict]:
    shape, dtype = case.get("shape", [8]), case.get("dtype", "float32")
    return [{"tensor": case.draw(rank, shape, dtype)} for rank in range(case.size)]


# harnesses


def _in_place(function, rank, size, chunks) -> tuple[list, str]:
    """Call it; returns the tensors that the list held before, and what became of the list."""
    before = list(chunks)
    function(rank, size, chunks)
    same = len(chunks) == size and all(a is b for a, b in zip(chunks, before, strict=True))
    return before, "as it was" if same else "changed"


def _call_reduce_scatter(function, rank, size, inputs):
    chunks, fate = _in_place(function, rank, size, inputs["chunks"])
    return {"chunk (rank + 1) mod size": chunks[(rank + 1) % size], "list of chunks": fate}


def _call_all_gather(function, rank, size, inputs):
    chunks, fate = _in_place(function, rank, size, inputs["chunks"])
    return {"chunks": chunks, "list of chunks": fate}


# ring_reduce_scatter


def _owned(look: Look, rank: int):
    """(what every rank put into the chunk that `rank` should own, what that holds now)."""
    number = (rank + 1) % look.size
    parts = [inputs["chunks"][number] for inputs in look.inputs]
    return parts, look.got[rank]["chunk (rank + 1) mod size"]


def _shares(look: Look) -> list[tuple[int, ...] | None]:
    return [rings.shares(*_owned(look, rank)) for rank in look.ranks]


ring_reduce_scatter = Exercise(
    "ring_reduce_scatter", LAB, 4,
    make=_chunks_of_each_rank,
    call=_call_reduce_scatter,
    asks="After ring_reduce_scatter rank r holds, in chunk (r + 1) mod size, the sum of that chunk "
    "over all ranks, and each rank has sent size − 1 messages of one chunk to (r + 1) mod size.",
    visible=(Case(4, 1, {"shape": [3]}), Case(2, 2), Case(4, 3, {"shape": [3]})),
    rules=(traffic.no_collective_but_barrier, rings.one_chunk_each, *rings.SOUND),
    hints=(
        rings.EARLY,
        rings.LIST_CHANGED,
        *rings.TRAFFIC,
        rings.OTHER_DTYPE,
        rings.WHOLE,
        rings.STEPS,
        rings.SAME_AGAIN,
        Hint(
            "another chunk first",
            lambda look: look.size > 1 and all(
                rings.first_chunk(look, rank) not in (rank, None) for rank in look.ranks
            ),
            "Chunks travel the right way, and end on the wrong ranks. Follow one of them back: "
            "chunk c is to end on rank c − 1, and before that it was on rank c − 2, and so on. On "
            "which rank did it start? That rank sends it in the first step.",
        ),
        Hint(
            "copied, not added",
            lambda look: look.size > 1 and all(
                shares is not None and sum(shares) == 1 for shares in _shares(look)
            ),
            "Each chunk holds one rank's part alone: what arrived was written over what was there. "
            "Receive into a buffer of its own, then add that to the chunk.",
        ),
        Hint(
            "parts missing",
            lambda look: any(
                shares is not None and 0 in shares and max(shares) == 1 for shares in _shares(look)
            ),
            "A chunk holds the sum of some ranks alone. What a rank hands on in one step must be "
            "the chunk that it added to in the step before.",
        ),
        Hint(
            "parts twice",
            lambda look: any(shares is not None and max(shares) > 1 for shares in _shares(look)),
            "A rank's part is in the sum twice: each rank adds its own to a passing chunk once.",
        ),
        *rings.MESSAGES,
    ),
)  # fmt: skip


# ring_all_gather


def _gathered(look: Look) -> list[np.ndarray]:
    """What the chunks should hold, on every rank."""
    return look.expected[0]["chunks"]


def _misplaced(look: Look) -> bool:
    """Did all chunks arrive, in another order?"""

    def key(chunk):
        return np.asarray(chunk).ravel().tolist()

    right = sorted(map(key, _gathered(look)))
    return look.size > 1 and any(
        sorted(map(key, got["chunks"])) == right and not look.same(_gathered(look), got["chunks"])
        for got in look.got
    )


def _added(look: Look) -> bool:
    """Does a chunk hold what arrived plus what was there before?"""
    return any(
        look.same(right + before, now) and not look.same(right, now)
        for rank in look.ranks
        for right, before, now in zip(
            _gathered(look), look.inputs[rank]["chunks"], look.got[rank]["chunks"], strict=True
        )
    )


ring_all_gather = Exercise(
    "ring_all_gather", LAB, 3,
    make=_one_chunk_of_each_rank,
    call=_call_all_gather,
    asks="ring_all_gather begins with chunk (r + 1) mod size on rank r and leaves every chunk on "
    "every rank; each rank has sent size − 1 messages of one chunk to (r + 1) mod size.",
    visible=(Case(4, 1, {"shape": [3]}), Case(2, 2), Case(4, 3, {"shape": [3]})),
    rules=(traffic.no_collective_but_barrier, rings.one_chunk_each, *rings.SOUND),
    hints=(
        rings.EARLY,
        rings.LIST_CHANGED,
        *rings.TRAFFIC,
        rings.OTHER_DTYPE,
        rings.WHOLE,
        rings.STEPS,
        rings.SAME_AGAIN,
        Hint(
            "added, not copied",
            _added,
            "What arrived was added to what lay in the chunk. These chunks are finished sums: "
            "receive straight into the chunk, nothing is added any more.",
        ),
        Hint(
            "another chunk first",
            lambda look: look.size > 1 and all(
                rings.first_chunk(look, rank) not in ((rank + 1) % look.size, None)
                for rank in look.ranks
            ),
            "In the first step a rank sent a chunk that it did not have yet. On entry rank r holds "
            "one finished chunk, and its number is not r.",
        ),
        Hint(
            "chunks in other places",
            _misplaced,
            "Every chunk arrived, but not in its own place: whoever receives chunk c must receive "
            "into chunks[c]. Which chunk does the left neighbour send in this step?",
        ),
        *rings.MESSAGES,
    ),
)  # fmt: skip


# ring_all_reduce


def _parts(look: Look, rank: int):
    return [inputs["tensor"] for inputs in look.inputs], returned(look)[rank]


def _shares_of_elements(look: Look) -> list[tuple[int, ...] | None]:
    """For each rank and each element of what it returned, how often each rank's part is in it."""
    found = []
    for rank in look.ranks:
        parts, got = _parts(look, rank)
        if isinstance(got, np.ndarray) and got.shape == parts[0].shape:
            for place in range(min(got.size, 12)):
                element = [part.reshape(-1)[place : place + 1] for part in parts]
                found.append(rings.shares(element, got.reshape(-1)[place : place + 1]))
    return found


def _tail_alone(look: Look) -> bool:
    """Are only the elements wrong that are left when the tensor is cut into equal chunks?"""
    want = total(look).reshape(-1)
    whole = want.size // look.size * look.size
    return (
        0 < whole < want.size
        and all(isinstance(got, np.ndarray) and got.size == want.size for got in returned(look))
        and all(look.same(want[:whole], got.reshape(-1)[:whole]) for got in returned(look))
    )


ring_all_reduce = Exercise(
    "ring_all_reduce", LAB, 4,
    make=_tensor_of_each_rank,
    asks="In ring_all_reduce every rank returns the sum of all tensors, in the input's shape and "
    "dtype; each rank sends 2(size − 1) messages, all to (r + 1) mod size, none larger than "
    "⌈n/size⌉ elements.",
    visible=(
        Case(4, 1), Case(2, 2, {"shape": [2, 3]}), Case(4, 3, {"shape": [6]}),
        Case(3, 4, {"shape": [2]}),
    ),
    rules=(traffic.no_collectives, rings.ring_of_chunks, *rings.SOUND),
    hints=(
        rings.EARLY,
        *rings.TRAFFIC,
        Hint(
            "barrier",
            lambda look: any(e.op == "barrier" for e in look.events()),
            "A barrier is a collective too, and a ring needs none: a receive waits by itself.",
        ),
        Hint(
            "flat",
            lambda look: any(
                isinstance(got, np.ndarray) and got.shape == (want.size,) != want.shape
                for got, want in zip(returned(look), look.expected, strict=True)
            ),
            "The values are in one dimension: give the result the shape of the input again.",
        ),
        Hint(
            "other length",
            lambda look: any(
                isinstance(got, np.ndarray) and got.size != want.size
                for got, want in zip(returned(look), look.expected, strict=True)
            ),
            "The result has another length than the input: what was added to make equal chunks has "
            "to come off again, and chunks of unequal length must all be there.",
        ),
        Hint(
            "rest left out",
            _tail_alone,
            "All elements are right but the last few. n // size elements a chunk leave a rest when "
            "size does not divide n; torch.tensor_split gives chunks that hold everything. And "
            "where each chunk was filled up with zeros by itself, they have to come off each chunk "
            "by itself, not off the end of all.",
        ),
        rings.OTHER_DTYPE,
        rings.WHOLE,
        Hint(
            "mean for sum",
            lambda look: told_apart(look) and everywhere(
                look, [(total(look) / look.size).astype(total(look).dtype)] * look.size
            ),
            "This is the mean: the sum is asked for, so nothing is divided.",
        ),
        own_tensor("Each rank returned its own tensor: its chunks have to end up in what you "
                   "return. Are they views of the tensor, or copies?"),
        Hint(
            "parts missing",
            lambda look: any(
                shares is not None and 0 in shares for shares in _shares_of_elements(look)
            ),
            "Some elements lack the part of a rank. Did your reduce-scatter and your all-gather "
            "both pass, and do they work on the same chunks?",
        ),
        Hint(
            "parts twice",
            lambda look: any(
                shares is not None and max(shares) > 1 for shares in _shares_of_elements(look)
            ),
            "Some elements hold the part of a rank twice: something is added in the second half of "
            "the ring, where chunks are only handed on.",
        ),
        *hints.COMMON,
        *rings.MESSAGES,
    ),
)  # fmt: skip


# what a ring and a parameter server cost


def _arguments(case: Case) -> list[dict]:
    return [dict(case.params)]


def _call_formula(function, rank, size, inputs):
    return function(*inputs.values())


def _link(n_bytes: float, size: int, latency: float, bandwidth: float) -> dict:
    return {"n_bytes": n_bytes, "size": size, "latency": latency, "bandwidth": bandwidth}


def _instead(*formulas) -> Callable[[Look], bool]:
    """Did it give what one of these formulas gives?"""

    def shows(look: Look) -> bool:
        return any(
            look.same(float(formula(*look.inputs[0].values())), look.got[0]) for formula in formulas
        )

    return shows


_SECONDS = (
    Hint(
        "no plain number",
        lambda look: not isinstance(look.got[0], (int, float)),
        "Return a plain number of seconds: no tensor, no string, and not only a print.",
    ),
    Hint(
        "rounded",
        lambda look: 0 < abs(look.got[0] - look.expected[0]) < 1e-3 * abs(look.expected[0]),
        "This is nearly it: return the number as it comes out, not rounded and not by way of a "
        "float32 tensor.",
    ),
    Hint(
        "another unit",
        lambda look: any(
            look.same(look.expected[0] * factor, look.got[0]) for factor in (1e3, 1e6, 1e9)
        ),
        "The unit is seconds: latency comes in seconds, the bandwidth in bytes a second.",
    ),
)
_BITS = Hint(
    "bits or products",
    _instead(
        lambda n, size, a, b: 2 * (size - 1) * (a + 8 * n / (size * b)),
        lambda n, size, a, b: 2 * (size - 1) * (a + n / size * b),
        lambda n, size, a, b: 2 * (size - 1) * 8 * n / b + 2 * a,
        lambda n, size, a, b: 2 * (size - 1) * n * b + 2 * a,
    ),
    "Check the units: bytes divided by bytes a second are seconds. No 8 is needed.",
)
_FORMULA = Tolerance(rtol=1e-9, atol=0.0)

ring_time = Exercise(
    "ring_time", LAB, 1,
    make=_arguments,
    call=_call_formula,
    group=False,
    tolerance=_FORMULA,
    asks="ring_time gives the seconds of a ring all-reduce: all its steps, each of which takes the "
    "latency and the time of one chunk.",
    visible=(
        Case(1, 1, _link(6_000_000, 4, 0.001, 1e9)), Case(1, 2, _link(1_000_000, 5, 2e-5, 2.5e8)),
    ),
    hints=(
        *_SECONDS,
        Hint(
            "one half of the ring",
            _instead(lambda n, size, a, b: (size - 1) * (a + n / (size * b))),
            "This is half of it: a ring all-reduce has two halves of size − 1 steps.",
        ),
        Hint(
            "size steps",
            _instead(lambda n, size, a, b: 2 * size * (a + n / (size * b))),
            "Count the steps of a half once more: a chunk visits `size` ranks in one hop less.",
        ),
        Hint(
            "whole tensor in every step",
            _instead(lambda n, size, a, b: 2 * (size - 1) * (a + n / b)),
            "Each step sends one chunk, not the whole tensor.",
        ),
        _BITS,
        Hint(
            "latency once",
            _instead(*(
                lambda n, size, a, b, k=k: k * a + 2 * (size - 1) * n / (size * b)
                for k in (0, 1, 2)
            )),
            "Every message pays the latency, and the steps come one after the other.",
        ),
        Hint(
            "all ranks' bytes",
            _instead(lambda n, size, a, b: 2 * (size - 1) * (size * a + n / b)),
            "All ranks send at the same time, each on a link of its own: what counts is the time "
            "of one rank.",
        ),
    ),
)  # fmt: skip

parameter_server_time = Exercise(
    "parameter_server_time", LAB, 1,
    make=_arguments,
    call=_call_formula,
    group=False,
    tolerance=_FORMULA,
    asks="parameter_server_time gives the seconds of one synchronous step with one server and "
    "size − 1 workers: all gradients and all parameters pass its link, and the latency counts once "
    "each way.",
    visible=(
        Case(1, 1, _link(6_000_000, 4, 0.001, 1e9)), Case(1, 2, _link(1_000_000, 5, 2e-5, 2.5e8)),
    ),
    hints=(
        *_SECONDS,
        Hint(
            "one way",
            _instead(*(
                lambda n, size, a, b, k=k: (size - 1) * n / b + k * a for k in (1, 2)
            )),
            "This is one way. Gradients come in and parameters go out, and both pass the server's "
            "link.",
        ),
        Hint(
            "size workers",
            _instead(lambda n, size, a, b: 2 * size * n / b + 2 * a),
            "One of the `size` ranks is the server: how many workers are there?",
        ),
        Hint(
            "latency for every worker",
            _instead(lambda n, size, a, b: 2 * (size - 1) * (n / b + a)),
            "Requests overlap: while one worker's bytes pass the link, the others' are already on "
            "their way. The latency counts once in each direction.",
        ),
        Hint(
            "latency once",
            _instead(*(
                lambda n, size, a, b, k=k: 2 * (size - 1) * n / b + k * a for k in (0, 1)
            )),
            "There are two messages one after the other: the push, then the answer. Each has its "
            "latency.",
        ),
        Hint(
            "one worker's bytes",
            _instead(lambda n, size, a, b: 2 * n / b + 2 * a),
            "That is one worker alone. The server's link has to carry everybody's bytes.",
        ),
        _BITS,
        Hint(
            "the ring's formula",
            _instead(lambda n, size, a, b: 2 * (size - 1) * (a + n / (size * b))),
            "That is the ring. The server cuts nothing into chunks: whole tensors pass its link.",
        ),
    ),
)  # fmt: skip

EXERCISES = [
    ring_reduce_scatter, ring_all_gather, ring_all_reduce, ring_time, parameter_server_time,
    sync_parameter_server, async_parameter_server,
]  # fmt: skip
