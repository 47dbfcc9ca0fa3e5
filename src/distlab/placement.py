"""Who holds a strategy's variables and what travels in one step: as TensorFlow's own graph says.

A step that has been traced is a graph: operations, each with the device that it was given to, and
tensors between them. A tensor between two devices has to travel. Of variables the graph holds
handles; the device of a handle is where the variable lies.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

EVERYBODY = "everybody"  # where a collective operation sends to
_REDUCE = ("CollectiveReduceV2", "CollectiveReduceV3", "CollectiveReduce")
_READ = "ReadVariableOp"


@dataclass(frozen=True)
class Placement:
    """Where things are in one step under a strategy. Plain values, to be sent and drawn.

    Args:
        name: the strategy's.
        replicas: the device of each replica.
        holds: device → bytes of variables that lie on it.
        travels: (from, to, what) → bytes in one step; what is "weights" or "gradients".
    """

    name: str
    replicas: list[str]
    holds: dict[str, int]
    travels: dict[tuple[str, str, str], int] = field(default_factory=dict)

    @property
    def copies(self) -> int:
        return len(self.holds)


def of(strategy: Any, variables: list[Any], step: Any, *arguments: Any) -> Placement:
    """The placement of a step.

    Args:
        variables: those that are trained, Keras's or TensorFlow's.
        step: a `tf.function` that uses them, called under the strategy.
        arguments: what it is called with.
    """
    graph = step.get_concrete_function(*arguments).graph
    holds: Counter = Counter()
    for variable in variables:
        variable = getattr(variable, "value", variable)
        for copy in getattr(variable, "values", [variable]):
            holds[short(copy.device)] += _bytes(copy)
    replicas = [short(name) for name in strategy.extended.worker_devices]
    return Placement(type(strategy).__name__, replicas, dict(holds), _travels(graph))


def short(device: str) -> str:
    """ "CPU:1"; of a process of a cluster "ps 0" or "worker 1"."""
    parts = dict(part.split(":", 1) for part in device.strip("/").split("/") if ":" in part)
    if parts.get("job", "localhost") != "localhost":
        return f"{parts['job']} {parts.get('task', '0')}"
    return parts.get("device", "CPU:0")


def _bytes(tensor: Any) -> int:
    count = tensor.shape.num_elements()
    return 0 if count is None or tensor.dtype.name == "resource" else count * tensor.dtype.size


def _travels(graph: Any) -> dict[tuple[str, str, str], int]:
    held = {inner.name: short(outer.device) for outer, inner in graph.captures}
    home = _home(graph)
    found: Counter = Counter()
    for operation in graph.get_operations():
        here = short(operation.device) if operation.device else home
        if operation.type in _REDUCE and _bytes(operation.inputs[0]) > 4:  # more than a loss
            found[here, EVERYBODY, "gradients"] += _bytes(operation.inputs[0])
        for tensor in operation.inputs:
            found.update(_arriving(operation, tensor, here, held, home))
    return {travel: size for travel, size in found.items() if size}


def _arriving(operation, tensor, here: str, held: dict[str, str], home: str) -> dict:
    """What has to travel for one input of an operation."""
    maker = tensor.op
    if maker.type == _READ:
        there = held.get(maker.inputs[0].name, home)
        what = "weights"
    elif tensor.name in held and _updates(operation):  # a new value for a variable
        update = operation.inputs[-1]
        there, here, tensor, what = _place(update.op, home), held[tensor.name], update, "gradients"
    else:
        there = _place(maker, home)
        what = "gradients"
    if there == here or tensor.shape.rank == 0 or not maker.inputs and what == "gradients":
        return {}
    return {(there, here, what): _bytes(tensor)}


def _updates(operation: Any) -> bool:
    return operation.type.startswith(("Assign", "ResourceApply"))


def _place(operation: Any, home: str) -> str:
    return short(operation.device) if operation.device else home


def _home(graph: Any) -> str:
    return "CPU:0"
