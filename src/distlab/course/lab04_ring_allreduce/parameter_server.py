"""Lab 04's two parameter servers: what they ask. How an asynchronous one is made repeatable is in
`turns`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from distlab.course.lab04_ring_allreduce.fixed_schedule import Gradient, Turns
from distlab.course.lab04_ring_allreduce.rings import EARLY
from distlab.exercises import hints, traffic
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.hints import returned

LAB = "04-ring-allreduce"


# inputs


def _tensors(case: Case, rank: int, salt: int) -> list[np.ndarray]:
    generator = case.generator(rank, stream=salt)
    shapes = case.get("shapes", [[3], [3], [2, 2]])
    dtype = case.get("dtype", "float32")
    # sixteenths: sums of a few of them are the same in every order, to the last bit
    return [np.asarray(np.round(16 * generator.standard_normal(s)) / 16, dtype) for s in shapes]


def _unequal_parameters(case: Case) -> list[dict]:
    return [
        {
            "parameters": _tensors(case, rank, 0),
            "gradients": _tensors(case, rank, 1),
            "lr": case.get("lr", 0.5),
        }
        for rank in range(case.size)
    ]


def _equal_parameters(case: Case) -> list[dict]:
    turns = case.params["turns"]
    steps = sum(turn.count(1) for turn in turns)
    assert all(sum(turn.count(w) for turn in turns) == steps for w in range(1, case.size))
    return [
        {
            "parameters": _tensors(case, -1, 0),
            "minimum": _tensors(case, rank, 1),
            "steps": steps,
            "lr": case.get("lr", 0.25),
            "turns": turns,
        }
        for rank in range(case.size)
    ]


# what both ask of the traffic


def with_rank_0_alone(look: Look) -> str | None:
    """Every message has rank 0 at one end."""
    for event in look.events("send"):
        if 0 not in (event.rank, event.peer):
            return (
                f"rank {event.rank} sent to rank {event.peer} at {event.place}: a worker talks to "
                "the server alone, which is rank 0."
            )
    return None


_COLLECTIVE = Hint(
    "collective",
    lambda look: any(e.is_collective and e.op != "barrier" for e in look.events()),
    "The parameters live on rank 0, and everything goes to it and comes from it in messages: send "
    "and recv are all you need.",
)
_WORKERS_TALK = Hint(
    "between workers",
    lambda look: with_rank_0_alone(look) is not None,
    "Workers do not talk to each other: each sends its gradients to rank 0 and hears from rank 0.",
)


# sync_parameter_server


def _averages(look: Look, first: int, by: int) -> list[np.ndarray]:
    """The gradients of ranks `first` and up, added, over `by`."""
    rows = [inputs["gradients"] for inputs in look.inputs[first:]]
    return [np.sum(tensors, axis=0) / by for tensors in zip(*rows, strict=True)]


def _stepped(parameters, gradients, lr) -> list[np.ndarray]:
    return [
        (p - lr * g).astype(p.dtype) for p, g in zip(parameters, gradients, strict=True)
    ]  # fmt: skip


def _all_returned(look: Look, make) -> bool:
    """Did every rank return what `make(rank)` gives, and is that wrong?"""
    values = [make(rank) for rank in look.ranks]
    return all(map(look.same, values, look.got)) and not look.same(values, look.expected)


def _from_rank_0(first: int, by, sign: float = 1.0):
    """Every rank has rank 0's parameters after a step along another mean than the right one."""

    def shows(look: Look) -> bool:
        own, lr = look.inputs[0]["parameters"], look.inputs[0]["lr"]
        new = _stepped(own, _averages(look, first, by(look.size)), sign * lr)
        return _all_returned(look, lambda rank: new)

    return shows


def _own_stepped(look: Look) -> bool:
    """Did a worker step from its own parameters in place of rank 0's?"""
    mean, lr = _averages(look, 1, look.size - 1), look.inputs[0]["lr"]
    return any(
        look.same(_stepped(look.inputs[rank]["parameters"], mean, lr), look.got[rank])
        for rank in range(1, look.size)
    )


def _one_worker_alone(look: Look) -> bool:
    """Is each tensor on rank 0 that of a step with the gradient of a single worker?"""
    given, got = look.inputs[0], look.got[0]
    if look.size < 3 or not isinstance(got, list) or len(got) != len(given["parameters"]):
        return False
    steps = [
        _stepped(given["parameters"], inputs["gradients"], given["lr"])
        for inputs in look.inputs[1:]
    ]  # fmt: skip
    return all(
        any(look.same(step[place], tensor) for step in steps) for place, tensor in enumerate(got)
    )


sync_parameter_server = Exercise(
    "sync_parameter_server", LAB, 3,
    make=_unequal_parameters,
    asks="In sync_parameter_server, rank 0 averages the gradients of ranks 1 to size − 1, takes a "
    "step with them from its own parameters and sends these back; every rank returns them.",
    visible=(Case(3, 1), Case(2, 2), Case(4, 3, {"lr": 0.1})),
    rules=(
        traffic.no_collectives,
        with_rank_0_alone,
        traffic.nothing_left_open,
        traffic.sends_unchanged,
    ),
    hints=(
        EARLY,
        _COLLECTIVE,
        _WORKERS_TALK,
        Hint(
            "server's gradients in the mean",
            _from_rank_0(0, lambda size: size),
            "Rank 0's own gradients are in the mean. It is no worker: only those of ranks 1 to "
            "size − 1 count.",
        ),
        Hint(
            "divided by size",
            lambda look: look.size > 2 and _from_rank_0(1, lambda size: size)(look),
            "The sum of the gradients was divided by `size`. How many workers are there?",
        ),
        Hint(
            "sum for mean",
            _from_rank_0(1, lambda size: 1),
            "The step was taken with the sum of the gradients: the mean is asked for.",
        ),
        Hint(
            "uphill",
            _from_rank_0(1, lambda size: size - 1, -1.0),
            "The step went up the gradient: parameters minus lr times gradient.",
        ),
        Hint(
            "one worker alone",
            _one_worker_alone,
            "The step was taken with the gradients of one worker alone. Does each worker's push "
            "have a buffer of its own, or was it added up before the next one arrived? "
            "([buffer] * 3 is a list that holds one buffer three times.)",
        ),
        Hint(
            "own parameters stepped",
            _own_stepped,
            "A worker took the step from its own parameters. They may differ from rank 0's: the "
            "server's are the ones that count, and it sends them.",
        ),
        Hint(
            "gradients sent back",
            lambda look: any(
                look.same(_averages(look, 1, look.size - 1), look.got[rank])
                for rank in range(1, look.size)
            ),
            "The workers got averaged gradients back: what travels from rank 0 is its new "
            "parameters.",
        ),
        Hint(
            "nothing changed",
            lambda look: any(
                look.same(look.inputs[source]["parameters"], look.got[rank])
                for rank in look.ranks
                for source in (0, rank)
            ),
            "A rank returned parameters as they were before the step.",
        ),
        Hint(
            "some return nothing",
            lambda look: 0 < sum(got is None for got in look.got) < look.size,
            "Some ranks returned None: every rank returns the updated list, the server too.",
        ),
        Hint(
            "one tensor for a list",
            lambda look: any(isinstance(got, np.ndarray) for got in look.got),
            "One tensor came back. Parameters come as a list and leave as one, each in its shape.",
        ),
        *hints.COMMON,
        hints.CHANGED,
        hints.UNWAITED,
    ),
)  # fmt: skip


# async_parameter_server


_QUEUE = "queue of pushes while a worker was slow"
_GIVEN = "parameters that gradient_fn was given"


def _call_async(function, rank, size, inputs):
    turns = Turns(rank, inputs["turns"])
    gradient = Gradient(turns, inputs["minimum"])
    result = function(rank, size, inputs["parameters"], gradient, inputs["steps"], inputs["lr"])
    turns.end()
    found = {_QUEUE: "a push unanswered" if turns.given_up else "no push unanswered"}
    if rank:
        found[_GIVEN] = gradient.given
    return {**found, "returned": result}


def _no_first_pull(look: Look) -> str | None:
    """Nothing arrives at a worker before it has sent something."""
    for record in look.records[1:]:
        sent = min((e.begin for e in record.sends()), default=float("inf"))
        for event in record.receives():
            if event.done and (event.wait_end or event.end) < sent:
                return (
                    f"rank {record.rank} received a message at {event.place} before its first push:"
                    " all ranks begin with equal parameters, nobody has to fetch them."
                )
    return None


def _one_worker_at_a_time(look: Look) -> str | None:
    """No collective but of the server and one worker: whoever calls another waits for the rest."""
    for event in look.events():
        if event.is_collective and event.op != "barrier" and len(event.group) > 2:
            return (
                f"rank {event.rank} called {event.api or event.op} at {event.place}, in which all "
                "workers take part: the server deals with one worker at a time."
            )
    return None


def _every_push_answered(look: Look) -> str | None:
    """In bytes, because a push may be one message or several."""
    asked = look.inputs[0]["steps"] * sum(p.nbytes for p in look.inputs[0]["parameters"])
    for record in look.records[1:]:
        together = sum(e.nbytes for e in record.collectives())
        if sum(e.nbytes for e in record.sends()) + together < asked:
            return f"rank {record.rank} pushed less than {look.inputs[0]['steps']} times."
        if sum(e.nbytes for e in record.receives()) + together < asked:
            return (
                f"rank {record.rank} did not receive new parameters after each of its pushes, the "
                "last one included."
            )
    return None


def _simulated(look: Look, factor: float = 1.0) -> tuple[list[np.ndarray], list[tuple[int, int]]]:
    """The server's parameters in the end, and (worker, staleness) of each push in order."""
    inputs = look.inputs
    server = inputs[0]["parameters"]
    given = [server] * look.size
    known, pushes = [0] * look.size, []
    for turn in inputs[0]["turns"]:
        for worker in turn:
            gradients = [
                p - m for p, m in zip(given[worker], inputs[worker]["minimum"], strict=True)
            ]
            server = _stepped(server, gradients, factor * inputs[0]["lr"])
            pushes.append((worker, len(pushes) - known[worker]))
            given[worker], known[worker] = server, len(pushes)
    return server, pushes


def _told(look: Look, name: str) -> Any:
    """What rank 0 returned under that name."""
    answer = returned(look)[0]
    return answer.get(name) if isinstance(answer, dict) else None


def _stale_by(formula) -> Callable[[Look], bool]:
    """Is the returned max_staleness what this formula makes of the pushes, and wrong?"""

    def shows(look: Look) -> bool:
        said = _told(look, "max_staleness")
        return said != look.expected[0]["returned"]["max_staleness"] and any(
            said == value for value in formula(_simulated(look)[1])
        )

    return shows


def _later_pushes(pushes: list[tuple[int, int]]) -> list[int]:
    """The staleness of all pushes but each worker's first."""
    seen: set[int] = set()
    later = [s for worker, s in pushes if worker in seen or seen.add(worker)]
    return later or [0]


def _first_answer_lost(look: Look) -> bool:
    """Did the worker that pushed first go on with other parameters than it was answered?"""
    (worker, *others), *_ = look.inputs[0]["turns"]
    want, got = look.expected[worker][_GIVEN], look.got[worker][_GIVEN]
    return not others and len(got) > 1 and not look.same(want[1], got[1])


_STALENESS = (
    Hint(
        "itself counted",
        lambda look: (
            _told(look, "max_staleness") == look.expected[0]["returned"]["max_staleness"] + 1
        ),
        "The staleness is one too large: the push's own update does not count, only those applied "
        "since that worker's last answer.",
    ),
    Hint(
        "staleness since the start",
        _stale_by(lambda pushes: [len(pushes) - 1, len(pushes)]),
        "The staleness counts from the start. It begins anew with each answer: note for every "
        "worker how many updates there were when it was answered.",
    ),
    Hint(
        "first pushes left out",
        _stale_by(lambda pushes: [max(_later_pushes(pushes))]),
        "A worker's first push can be stale too: for it, count the updates since the start.",
    ),
    Hint(
        "last staleness",
        _stale_by(lambda pushes: [pushes[-1][1]]),
        "This is the staleness of the last push. The largest of all is asked for.",
    ),
    Hint(
        "all staleness added",
        _stale_by(
            lambda pushes: [sum(s for _, s in pushes), sum(s for _, s in pushes) / len(pushes)]
        ),
        "This is the sum or the mean of the staleness of all pushes: the largest is asked for.",
    ),
)


def _served_from_any(look: Look) -> bool:
    from distlab.records import events

    return any(e.flags & events.ANY_SOURCE for e in look.records[0].receives())


def _several_open(look: Look) -> bool:
    """Did rank 0 begin to receive from a second worker before the first receive had ended?"""
    begun = look.records[0].receives()
    return any(
        later.peer != one.peer and not later.blocking and later.begin < max(one.end, one.wait_end)
        for one, later in zip(begun, begun[1:], strict=False)
    )


def _queued(look: Look) -> bool:
    return any(got[_QUEUE] == "a push unanswered" for got in look.got)


async_parameter_server = Exercise(
    "async_parameter_server", LAB, 5,
    make=_equal_parameters,
    call=_call_async,
    asks="In async_parameter_server, rank 0 applies each worker's push when it arrives, whoever it "
    "is from, and answers that worker alone with the new parameters; in the end rank 0 returns "
    "parameters, updates and max_staleness, the others None.",
    visible=(
        Case(3, 1, {"turns": [[2], [2], [2], [1], [1], [2], [1], [1]]}),
        Case(4, 2, {"turns": [[1, 2, 3]]}),
        Case(3, 3, {"turns": [[1], [2], [2], [2], [1], [1]]}),
    ),
    rules=(
        _one_worker_at_a_time,
        _no_first_pull,
        _every_push_answered,
        traffic.nothing_left_open,
        traffic.sends_unchanged,
    ),
    hints=(
        EARLY,
        replace(_COLLECTIVE, shows=lambda look: _one_worker_at_a_time(look) is not None),
        _WORKERS_TALK,
        Hint(
            "fetched first",
            lambda look: _no_first_pull(look) is not None,
            "A worker got parameters before its first push. It has them already: begin with "
            "gradient_fn.",
        ),
        Hint(
            "served in a fixed order",
            lambda look: _queued(look)
            and not _served_from_any(look)
            and not _several_open(look),
            "Rank 0 waited for one worker, which was still computing, while another's push lay "
            "there. dist.recv(buffer) without src takes the next message from whomever, and "
            "returns that rank.",
        ),
        Hint(
            "several receives open",
            lambda look: _queued(look) and _several_open(look),
            "Rank 0 had receives from several workers open, one message had come, and it was not "
            "answered. Waiting for them in order serves in a fixed order, and with gloo "
            "is_completed() stays False until wait() is called. dist.recv(buffer) without src "
            "takes the next message from whomever, and returns that rank.",
        ),
        Hint(
            "collected before answered",
            _queued,
            "Rank 0 took a push and did not answer it before the next one came. Apply and answer "
            "each push at once: the next one may come from the same worker.",
        ),
        Hint(
            "answer not used",
            lambda look: any(
                len(got[_GIVEN]) > 1 and look.same(got[_GIVEN][0], got[_GIVEN][-1])
                for got in look.got[1:]
            ),
            "gradient_fn got the same parameters again: what rank 0 answers has to be what the "
            "worker passes to gradient_fn in its next step.",
        ),
        Hint(
            "gradients averaged",
            lambda look: look.same(
                _simulated(look, 1 / (look.size - 1))[0], _told(look, "parameters")
            )
            and look.size > 2,
            "Each update was divided by the number of workers. An asynchronous server has one push "
            "in its hand and nothing to average: p -= lr * g.",
        ),
        Hint(
            "uphill",
            lambda look: look.same(_simulated(look, -1.0)[0], _told(look, "parameters")),
            "The updates went up the gradient: p -= lr * g.",
        ),
        Hint(
            "something else than the answer",
            _first_answer_lost,
            "A worker passed something else to gradient_fn than what rank 0 had answered: take no "
            "step of your own on a worker, and change nothing that has arrived.",
        ),
        Hint(
            "other updates",
            lambda look: _told(look, "updates") is not None
            and _told(look, "updates") != look.expected[0]["returned"]["updates"],
            "`updates` counts every applied push, from all workers together.",
        ),
        *_STALENESS,
        Hint(
            "not None elsewhere",
            lambda look: any(got is not None for got in returned(look)[1:]),
            "Only rank 0 returns something: a worker's answer is None.",
        ),
        *hints.COMMON,
        hints.CHANGED,
        hints.UNWAITED,
    ),
)  # fmt: skip
