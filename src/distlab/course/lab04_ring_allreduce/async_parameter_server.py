"""`async_parameter_server`: a server that waits for none.

How its run is made repeatable is in `fixed_schedule`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from distlab.course.lab04_ring_allreduce import parameter_server
from distlab.course.lab04_ring_allreduce.fixed_schedule import Gradient, Turns
from distlab.exercises import hints
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.numpy_ints import as_plain
from distlab.records.events import ANY_SOURCE


def _equal_parameters(case: Case) -> list[dict]:
    turns = case.params["turns"]
    steps = sum(turn.count(1) for turn in turns)
    assert all(sum(turn.count(w) for turn in turns) == steps for w in range(1, case.size))
    return [
        {
            "parameters": parameter_server.made_tensors(case, -1, 0),
            "minimum": parameter_server.made_tensors(case, rank, 1),
            "steps": steps,
            "lr": case.get("lr", 0.25),
            "turns": turns,
        }
        for rank in range(case.size)
    ]


_QUEUE = "queue of pushes while a worker was slow"
_GIVEN = "parameters that gradient_fn was given"


def _call_async(function, rank, size, inputs):
    turns = Turns(rank, size, inputs["turns"])
    gradient = Gradient(turns, inputs["minimum"])
    parameters = inputs["parameters"]
    answer = sum(p.nbytes for p in parameters)
    with turns.beats.beating(), turns.listening(answer):
        result = function(rank, size, parameters, gradient, inputs["steps"], inputs["lr"])
    turns.end()
    found = {_QUEUE: "a push unanswered" if turns.given_up else "no push unanswered"}
    if rank:
        found[_GIVEN] = gradient.given
    return {**found, "returned": as_plain(result)}


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
    """No collective of more than the server and one worker: it would wait for all of them."""
    for event in look.events():
        # without members: the record does not know those of this group
        if event.is_collective and event.op != "barrier" and len(event.group) not in (1, 2):
            return (
                f"rank {event.rank} called {event.api or event.op} at {event.place}, in which all "
                "workers take part: the server deals with one worker at a time."
            )
    return None


def _every_push_answered(look: Look) -> str | None:
    """Every push was sent, and answered, in messages; counted in bytes, as a push may be several.

    What goes over the store is not recorded: a worker without messages, which uses the store for
    both, is judged by its parameters and the server's alone.
    """
    steps = look.inputs[0]["steps"]
    asked = steps * sum(p.nbytes for p in look.inputs[0]["parameters"])
    for record in look.records[1:]:
        together = sum(e.nbytes for e in record.collectives())
        pushed, answered = (
            sum(e.nbytes for e in events) + together
            for events in (record.sends(), record.receives())
        )
        if not pushed and not answered:
            continue
        if pushed < asked:
            return (
                f"rank {record.rank} pushed less than {steps} times by messages. (What goes over "
                "the store is not counted: use it for all pushes and answers, or for none.)"
            )
        if answered < asked:
            return (
                f"rank {record.rank} did not receive new parameters after each of its pushes, the "
                "last one included."
            )
    return None


def _pushed(look: Look, worker: int, given: list, to: list, factor: float = 1.0) -> list:
    """What the server makes of its parameters `to` by the gradient that a worker took where it was
    `given` parameters.
    """
    gradients = [p - m for p, m in zip(given, look.inputs[worker]["minimum"], strict=True)]
    return parameter_server.stepped_from(to, gradients, factor * look.inputs[0]["lr"])


def _simulated(look: Look, factor: float = 1.0) -> tuple[list[np.ndarray], list[tuple[int, int]]]:
    """The server's parameters in the end, and (worker, staleness) of each push in order."""
    server = look.inputs[0]["parameters"]
    given = [server] * look.size
    known, pushes = [0] * look.size, []
    for turn in look.inputs[0]["turns"]:
        for worker in turn:
            server = _pushed(look, worker, given[worker], server, factor)
            pushes.append((worker, len(pushes) - known[worker]))
            given[worker], known[worker] = server, len(pushes)
    return server, pushes


def _told(look: Look, name: str) -> Any:
    """What rank 0 returned under that name; where it was no dict, no hint that asks applies."""
    return look.returned[0].get(name)


def _stale_by(formula) -> Callable[[Look], bool]:
    """Is the returned max_staleness what this formula makes of the pushes, and wrong?"""

    def shows(look: Look) -> bool:
        said = _told(look, "max_staleness")
        return said != look.wanted[0]["max_staleness"] and said in formula(_simulated(look)[1])

    return shows


def _of_later_pushes(pushes: list[tuple[int, int]]) -> list[int]:
    """The largest staleness of all pushes but each worker's first."""
    workers = [worker for worker, _ in pushes]
    later = [stale for n, (worker, stale) in enumerate(pushes) if worker in workers[:n]]
    return [max(later, default=0)]


def _since_the_oldest(pushes: list[tuple[int, int]]) -> list[int]:
    """The largest number of updates since the answer of whoever was answered longest ago."""
    answered, ages = dict.fromkeys((worker for worker, _ in pushes), 0), []
    for before, (worker, _) in enumerate(pushes):
        ages.append(before - min(answered.values()))
        answered[worker] = before + 1
    return [max(ages)]


def _first_answer_lost(look: Look, as_before: bool) -> bool:
    """Did the worker that pushed first go on with other parameters than the right answer?

    Args:
        as_before: with those that it had pushed for, or with any others.
    """
    (worker, *others), *_ = look.inputs[0]["turns"]
    want, got = look.pairs(_GIVEN)[worker]
    lost = not others and len(got) > 1 and not look.same(want[1], got[1])
    return lost and look.same(got[0], got[1]) == as_before


def _applied(look: Look) -> bool:
    """Are rank 0's parameters what the gradients that its workers took make of the first ones?"""
    now = look.inputs[0]["parameters"]
    for worker in look.ranks[1:]:
        for given in look.got[worker][_GIVEN]:
            now = _pushed(look, worker, given, now)
    return look.same(now, _told(look, "parameters"))


def _are_parameters(look: Look, told: Any) -> bool:
    """Is this a list of tensors like the parameters?"""
    like = [(p.shape, p.dtype) for p in look.inputs[0]["parameters"]]
    return isinstance(told, list) and like == [
        (getattr(one, "shape", None), getattr(one, "dtype", None)) for one in told
    ]


def _no_count(look: Look) -> bool:
    """Is `updates` or `max_staleness` there, and no plain int?"""
    told = [_told(look, name) for name in ("updates", "max_staleness")]
    return any(one is not None and type(one) is not int for one in told)


_STALENESS = (
    Hint(
        "since the oldest answer",
        _stale_by(_since_the_oldest),
        "The staleness counts from the answer of the worker that has had none for longest. Each "
        "push counts from the last answer of its own worker.",
    ),
    Hint(
        "itself counted",
        lambda look: _told(look, "max_staleness") == look.wanted[0]["max_staleness"] + 1,
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
        _stale_by(_of_later_pushes),
        "A worker's first push can be stale too: for it, count the updates since the start.",
    ),
    Hint(
        "last staleness",
        _stale_by(lambda pushes: [pushes[-1][1]]),
        "This is the staleness of the last push, or of none at all where it is never counted. The "
        "largest of all is asked for.",
    ),
    Hint(
        "all staleness added",
        _stale_by(lambda pushes: [sum(s for _, s in pushes) / by for by in (1, len(pushes))]),
        "This is the sum or the mean of the staleness of all pushes: the largest is asked for.",
    ),
)


def _served_from_any(look: Look) -> bool:
    return any(e.flags & ANY_SOURCE for e in look.records[0].receives())


def _several_open(look: Look) -> bool:
    """Did rank 0 begin to receive from a second worker before the first receive had ended?"""
    return any(
        later.peer != one.peer and not later.blocking and later.begin < max(one.end, one.wait_end)
        for one, later in itertools.pairwise(look.records[0].receives())
    )


def _queued(look: Look) -> bool:
    return "a push unanswered" in look.left(_QUEUE)


exercise = Exercise(
    points=5,
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
    traffic=(_one_worker_at_a_time, _no_first_pull, _every_push_answered),
    hints=(
        hints.EARLY,
        replace(
            parameter_server.COLLECTIVE, shows=lambda look: _one_worker_at_a_time(look) is not None
        ),
        parameter_server.WORKERS_TALK,
        Hint(
            "fetched first",
            lambda look: _no_first_pull(look) is not None,
            "A worker got parameters before its first push. It has them already: begin with "
            "gradient_fn.",
        ),
        Hint(
            "served in a fixed order",
            lambda look: _queued(look) and not _served_from_any(look) and not _several_open(look),
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
                len(given) > 1 and look.same(given[0], given[-1]) for given in look.left(_GIVEN)[1:]
            ),
            "gradient_fn got the same parameters again: what rank 0 answers has to be what the "
            "worker passes to gradient_fn in its next step.",
        ),
        Hint(
            "gradients averaged",
            lambda look: (
                look.same(_simulated(look, 1 / (look.size - 1))[0], _told(look, "parameters"))
                and look.size > 2
            ),
            "Each update was divided by the number of workers. An asynchronous server has one push "
            "in its hand and nothing to average: p -= lr * g.",
        ),
        Hint(
            "uphill",
            lambda look: look.same(_simulated(look, -1.0)[0], _told(look, "parameters")),
            "The updates went up the gradient: p -= lr * g.",
        ),
        Hint(
            "answered before the update",
            lambda look: _first_answer_lost(look, as_before=True),
            "The worker that pushed first took its second gradient where it had taken the first: "
            "rank 0 applies a push before it answers, and the worker goes on with that answer.",
        ),
        Hint(
            "something else than the answer",
            lambda look: _first_answer_lost(look, as_before=False) and _applied(look),
            "A worker passed something else to gradient_fn than what rank 0 had answered: take no "
            "step of your own on a worker, and change nothing that has arrived.",
        ),
        Hint(
            "pushes not applied as they came",
            lambda look: _are_parameters(look, _told(look, "parameters")) and not _applied(look),
            "What rank 0 returned as `parameters` is not what the workers' gradients make of the "
            "parameters that it began with. Each push counts once, the last one too, in every "
            "tensor and with lr as it is.",
        ),
        Hint(
            "no plain int",
            _no_count,
            "`updates` and `max_staleness` are counts: return them as plain ints. int() makes one "
            "of a float or of a tensor that holds a single value.",
        ),
        Hint(
            "other updates",
            lambda look: _told(look, "updates") not in (None, look.wanted[0]["updates"]),
            "`updates` counts every applied push, from all workers together.",
        ),
        *_STALENESS,
        Hint(
            "not None elsewhere",
            lambda look: any(got is not None for got in look.returned[1:]),
            "Only rank 0 returns something: a worker's answer is None.",
        ),
    ),
)
