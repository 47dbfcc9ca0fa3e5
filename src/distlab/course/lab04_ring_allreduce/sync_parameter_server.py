"""`sync_parameter_server`: a server that waits for all workers."""

from __future__ import annotations

import numpy as np

from distlab.course.lab04_ring_allreduce import parameter_server
from distlab.exercises import hints, traffic
from distlab.exercises.exercise import Case, Exercise, Hint, Look


def _unequal_parameters(case: Case) -> list[dict]:
    return [
        {
            "parameters": parameter_server.made_tensors(case, rank, 0),
            "gradients": parameter_server.made_tensors(case, rank, 1),
            "lr": case.get("lr", 0.5),
        }
        for rank in range(case.size)
    ]


def _averages(look: Look, first: int, by: int) -> list[np.ndarray]:
    """The sum of the gradients of ranks `first` and up, divided by `by`."""
    rows = [inputs["gradients"] for inputs in look.inputs[first:]]
    return [np.sum(tensors, axis=0) / by for tensors in zip(*rows, strict=True)]


def _from_rank_0(first: int, by):
    """A hint's `shows`: did rank 0 step along another mean than the right one, for everybody?"""

    def shows(look: Look) -> bool:
        own, lr = look.inputs[0]["parameters"], look.inputs[0]["lr"]
        new = parameter_server.stepped_from(own, _averages(look, first, by(look.size)), lr)
        return hints.everywhere(look, [new] * look.size)

    return shows


def _own_stepped(look: Look) -> bool:
    """Did a worker step from its own parameters in place of rank 0's?"""
    mean, lr = _averages(look, 1, look.size - 1), look.inputs[0]["lr"]
    return any(
        look.same(parameter_server.stepped_from(own, mean, lr), got)
        for own, got in zip(look.given("parameters")[1:], look.returned[1:], strict=True)
    )


def _one_worker_alone(look: Look) -> bool:
    """Is each tensor on rank 0 that of a step with the gradient of a single worker, be it divided
    as the sum of all is?
    """
    given, got = look.inputs[0], look.got[0]
    if look.size < 3 or not isinstance(got, list) or len(got) != len(given["parameters"]):
        return False
    steps = [
        parameter_server.stepped_from(given["parameters"], inputs["gradients"], given["lr"] / by)
        for inputs in look.inputs[1:]
        for by in (1, look.size - 1)
    ]
    return all(
        any(look.same(step[place], tensor) for step in steps) for place, tensor in enumerate(got)
    )


def _answered_early(look: Look) -> bool:
    """Did rank 0 answer a worker that it had heard before the first message of another had come?"""
    heard, answered = set(), False
    for event in look.records[0].events:
        if event.is_message and event.op == "recv":
            if answered and event.peer not in heard:
                return True
            heard.add(event.peer)
        elif event.is_message:
            answered |= event.peer in heard
    return False


_ROUNDED = ("float16", "bfloat16")


def _nothing_left_out(look: Look) -> str | None:
    """Gradients and parameters come exactly: where numbers of half the precision travel, they are
    not all that does. (What goes over the store is not recorded, and judged by the values.)
    """
    for record, inputs in zip(look.records[1:], look.inputs[1:], strict=True):
        asked = sum(g.nbytes for g in inputs["gradients"])
        for what, messages in (("sent", record.sends()), ("received", record.receives())):
            found = sum(e.nbytes for e in messages)
            if found < asked and any(e.dtype in _ROUNDED for e in messages):
                return (
                    f"rank {record.rank} {what} {found} bytes where its tensors have {asked}. A "
                    "smaller dtype on the way rounds the values."
                )
    return None


exercise = Exercise(
    points=3,
    make=_unequal_parameters,
    asks="In sync_parameter_server, rank 0 averages the gradients of ranks 1 to size − 1, takes a "
    "step with them from its own parameters and sends these back; every rank returns them.",
    visible=(Case(3, 1), Case(2, 2), Case(4, 3, {"lr": 0.1})),
    traffic=(traffic.no_collectives, parameter_server.with_rank_0_alone, _nothing_left_out),
    hints=(
        hints.EARLY,
        parameter_server.COLLECTIVE,
        parameter_server.WORKERS_TALK,
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
            _from_rank_0(1, lambda size: -(size - 1)),
            "The step went up the gradient: parameters minus lr times gradient.",
        ),
        Hint(
            "answered too early",
            _answered_early,
            "Rank 0 answered a worker before it had heard from all. The mean is known only once "
            "every worker's gradients are there.",
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
                look.same(_averages(look, 1, look.size - 1), got) for got in look.returned[1:]
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
    ),
)
