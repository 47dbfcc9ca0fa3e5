"""Strategies over the devices of one process: how they are made, looked at and hinted at."""

from __future__ import annotations

from typing import Any

from distlab.course.lab08_tensorflow_strategies import placement, strategies
from distlab.course.lab08_tensorflow_strategies.asked import NOTHING, plain, with_tensorflow
from distlab.exercises.exercise import Case, Exercise, Hint, Look

_CLASSES = ("MirroredStrategy", "CentralStorageStrategy")
_PLAIN = (type(None), int, float, str, list, tuple, dict)


def over_devices(asks: str) -> Exercise:
    """An exercise that asks for a strategy."""
    return with_tensorflow(
        points=1, make=_devices, call=_call, asks=asks, visible=_VISIBLE, hints=_HINTS
    )


def _devices(case: Case) -> list[dict]:
    """`values`: multiples of 1/8 for a variable whose elements each replica adds up."""
    values = [float(n) / 8 for n in case.generator().integers(1, 1000, 2)]
    return [{**case.params, "values": values}]


def _call(function, rank: int, size: int, inputs: dict[str, Any]) -> dict[str, Any]:
    return strategies.run(_seen, function, inputs, devices=inputs["logical"])


def _seen(function, inputs: dict[str, Any]) -> dict[str, Any]:
    """What a strategy makes of a variable and of one step, as plain values."""
    import tensorflow as tf

    strategy = function(inputs["devices"])
    kind = placement.kind(strategy)
    if kind not in _CLASSES:
        other = plain(strategy) if isinstance(strategy, _PLAIN) else kind
        return {"returned": other, "devices": None, "copies": None, "results": None}
    with strategy.scope():
        variable = tf.Variable(inputs["values"])

    def step():
        replica = tf.distribute.get_replica_context().replica_id_in_sync_group
        return tf.cast(replica, tf.float32) + tf.reduce_sum(variable)

    results = strategy.experimental_local_results(strategy.run(step))
    return {
        "returned": kind,
        "devices": [_short(name) for name in strategy.extended.worker_devices],
        "copies": len({value.device for value in getattr(variable, "values", [variable])}),
        "results": [float(result) for result in results],
    }


def _short(device: str) -> str:
    """CPU:1, however TensorFlow writes it in full."""
    return ":".join(device.upper().split(":")[-2:])


_HINTS = (
    NOTHING,
    Hint(
        "a scope",
        lambda look: "Context" in str(look.returned[0]),
        "Return the strategy itself. Its `.scope()` is opened by whoever uses it.",
    ),
    Hint(
        "a class",
        lambda look: look.returned[0] in ("type", "ABCMeta"),
        "Return a strategy, made by calling its class, not the class.",
    ),
    Hint(
        "in a list",
        lambda look: isinstance(look.returned[0], (list, tuple)),
        "Return the strategy itself, and nothing around it.",
    ),
    Hint(
        "another strategy",
        lambda look: look.returned != look.wanted,
        "Look at the table of the strategies again: which one has a copy of the variables on every "
        "device, which one has a single copy in one place?",
    ),
    Hint(
        "devices left out",
        lambda look: len(_told(look)) < len(look.case.params["devices"]),
        "The strategy runs on fewer devices than it was given. Without an argument a strategy "
        "takes what it finds, which need not be all devices: hand it the whole list of names.",
    ),
    Hint(
        "devices beside those given",
        lambda look: set(_told(look)) > set(look.case.params["devices"]),
        "The strategy runs on devices that it was not given as well. Without an argument a "
        "strategy takes what it finds: hand it the list of names.",
    ),
    Hint(
        "other devices",
        lambda look: sorted(_told(look)) != sorted(look.case.params["devices"]),
        "The strategy runs on other devices than it was given: use the names in `devices`, not "
        "names that you make from a number.",
    ),
    Hint(
        "another order",
        lambda look: _told(look) != look.case.params["devices"],
        "Keep the devices in the order in which they are given: the first is replica 0's.",
    ),
)


def _told(look: Look) -> list[str]:
    return look.left("devices")[0] or []


_VISIBLE = (
    Case(1, 1, {"logical": 2, "devices": ["CPU:0", "CPU:1"]}),
    Case(1, 2, {"logical": 3, "devices": ["CPU:2", "CPU:0"]}),
)
