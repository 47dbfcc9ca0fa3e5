"""`parameter_server`: steps that a coordinator hands out, while a worker is killed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from distlab.course.lab08_tensorflow_strategies import asked, servers
from distlab.exercises.exercise import Case, Hint, Look

DONE, SCHEDULED, WAITED = "steps done", "steps scheduled", "all steps done at its return"
OWN, RESULT = "steps whose result came back", "a step's result"


def _steps(case: Case) -> list[dict]:
    return [{"seed": case.number(2**31), **case.params}]


def _call(function, rank: int, size: int, inputs: dict[str, Any]) -> dict[str, Any]:
    return servers.coordinate(_coordinated, function, inputs, kill=inputs["killed"])


def _coordinated(coordinator, gate, function, inputs: dict[str, Any]) -> dict[str, Any]:
    """Steps that are counted where they are done, on the server. Each gives a number that nobody
    knows beforehand.
    """
    import tensorflow as tf

    with coordinator.strategy.scope():
        done = tf.Variable(0.0)

    @tf.function
    def step_fn():
        done.assign_add(gate.passed())
        return tf.random.uniform((), maxval=1000.0, seed=inputs["seed"])

    with _counted(type(coordinator)) as scheduled:
        returned = function(coordinator, step_fn, inputs["steps"])
    # not `coordinator.done()`: a result can be fetched a moment before its step counts as done
    waited = all(promise._status_available_event.is_set() for promise in scheduled)
    coordinator.join()
    returned, given = asked.plain(returned), asked.plain(coordinator.fetch(scheduled))
    own = 0
    if isinstance(returned, list):
        own = sum(one in returned for one in given)
        returned = [RESULT if one in given else one for one in returned]
    return {
        "returned": returned,
        OWN: own,
        DONE: int(done.numpy()),
        WAITED: waited,
        SCHEDULED: len(scheduled),
    }


@contextlib.contextmanager
def _counted(kind: Any) -> Iterator[list]:
    """The promises of the steps that are handed to coordinators of this class."""
    from unittest import mock

    promises, schedule = [], kind.schedule

    def counted(*args, **kwargs):
        promises.append(schedule(*args, **kwargs))
        return promises[-1]

    with mock.patch.object(kind, "schedule", counted):
        yield promises


def _results(look: Look) -> Any:
    return look.returned[0]


exercise = asked.with_tensorflow(
    points=3,
    make=_steps,
    call=_call,
    deadline=asked.DEADLINE,
    asks="parameter_server schedules step_fn `steps` times, waits for all of them, and returns the "
    "list of what they gave back.",
    visible=(Case(1, 1, {"steps": 5, "killed": None}), Case(1, 2, {"steps": 8, "killed": 1})),
    hints=(
        asked.NOTHING,
        asked.AS_LIST,
        Hint(
            "not fetched",
            lambda look: any("RemoteValue" in getattr(x, "type_name", "") for x in _results(look)),
            "schedule returns at once, with a promise of a result. Fetch what it will hold: "
            "coordinator.fetch takes a whole list of promises.",
        ),
        Hint(
            "one result",
            lambda look: isinstance(_results(look), (int, float)),
            "Return the results of all steps, in a list.",
        ),
        Hint(
            "step called here",
            lambda look: look.got[0][SCHEDULED] == 0 and look.got[0][DONE] > 0,
            "The steps have run, but in the coordinator's process and not on the workers: hand "
            "step_fn to coordinator.schedule in place of calling it.",
        ),
        Hint(
            "too few steps",
            lambda look: look.got[0][DONE] < look.expected[0][DONE],
            "Fewer steps were done than asked for: schedule step_fn `steps` times, once for each.",
        ),
        Hint(
            "too many steps",
            lambda look: look.got[0][DONE] > look.expected[0][DONE],
            "More steps were done than asked for. The coordinator does a lost step again by "
            "itself: whoever schedules it once more does it twice.",
        ),
        Hint(
            "number of results",
            lambda look: len(_results(look)) != len(look.expected[0]["returned"]),
            "As many results as steps are asked for.",
        ),
        Hint(
            "one step's result for all",
            lambda look: look.differs(OWN),
            "Each step has a result of its own, and some of them are not in the list: fetch every "
            "promise that schedule returned.",
        ),
        Hint(
            "not waited",
            lambda look: look.differs(WAITED),
            "The function returned while steps were still on their way: coordinator.join waits.",
        ),
    ),
)
