"""Strategies over the devices of one process: how they are made, looked at and hinted at."""

from __future__ import annotations

from typing import Any

from distlab.course.lab08_tensorflow_strategies import placement, strategies
from distlab.course.lab08_tensorflow_strategies.asked import NOTHING, plain
from distlab.exercises.exercise import Case, Hint, Look

#: strategies by what they do: their class, and whether each device holds a copy of the variables
_CLASSES = {"mirrored": "MirroredStrategy", "central storage": "CentralStorageStrategy"}


def devices(case: Case) -> list[dict]:
    """`values`: multiples of 1/8 for a variable whose elements each replica adds up."""
    values = [float(n) / 8 for n in case.generator().integers(1, 1000, 2)]
    given = {"logical": case.params["logical"], "devices": list(case.params["devices"])}
    return [{**given, "values": values}]


def call(function, rank: int, size: int, inputs: dict[str, Any]) -> dict[str, Any]:
    devices = inputs["devices"]
    values = list(inputs["values"])
    return strategies.run(_seen, function, list(devices), values, devices=inputs["logical"])


def _seen(function, devices: list[str], values: list[float]) -> dict[str, Any]:
    """What a strategy makes of a variable and of one step, as plain values."""
    import tensorflow as tf

    given = list(devices)
    strategy = function(given)
    kind = placement.kind(strategy)
    if kind not in _CLASSES.values():
        other = plain(strategy) if _plain(strategy) else kind
        return {"returned": other, "devices": None, "copies": None, "results": None}
    with strategy.scope():
        variable = tf.Variable(values)

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


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str, list, tuple, dict))


def _short(device: str) -> str:
    """CPU:1, however TensorFlow writes it in full."""
    return ":".join(device.upper().split(":")[-2:])


HINTS = (
    NOTHING,
    Hint(
        "a scope",
        lambda look: "Context" in str(look.got[0]["returned"]),
        "Return the strategy itself. Its `.scope()` is opened by whoever uses it.",
    ),
    Hint(
        "a class",
        lambda look: look.got[0]["returned"] in ("type", "ABCMeta"),
        "Return a strategy, made by calling its class, not the class.",
    ),
    Hint(
        "in a list",
        lambda look: isinstance(look.got[0]["returned"], (list, tuple)),
        "Return the strategy itself, and nothing around it.",
    ),
    Hint(
        "another strategy",
        lambda look: look.got[0]["returned"] != look.expected[0]["returned"],
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


def _over(*devices: str, logical: int, seed: int) -> Case:
    return Case(1, seed, {"logical": logical, "devices": list(devices)})


VISIBLE = (
    _over("CPU:0", "CPU:1", logical=2, seed=1),
    _over("CPU:2", "CPU:0", logical=3, seed=2),
)
