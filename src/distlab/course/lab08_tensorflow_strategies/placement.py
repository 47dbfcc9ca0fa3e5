"""Where a strategy's variables lie and what travels in one step, read from TensorFlow's own graph.

A traced step is a graph: operations, each placed on a device, and tensors between them. A tensor
between two devices has to travel. Variables are in the graph as handles, and a variable lies on the
device of its handle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

EVERYBODY = "everybody"  # where a collective operation sends to
WEIGHTS, GRADIENTS = "weights", "gradients"
_READ = "ReadVariableOp"
_REDUCE = "CollectiveReduce"
_UPDATES = ("Assign", "ResourceApply")


@dataclass(frozen=True)
class Placement:
    """What lies where and what travels in one step under a strategy, as plain values.

    Args:
        name: the strategy's.
        replicas: the device of each replica.
        holds: device → bytes of variables that lie on it.
        travels: (from, to, "weights" or "gradients") → bytes in one step.
    """

    name: str
    replicas: list[str]
    holds: dict[str, int]
    travels: dict[tuple[str, str, str], int] = field(default_factory=dict)


def of(strategy: Any, variables: list[Any], step: Any, *arguments: Any) -> Placement:
    """The placement of a step.

    Args:
        variables: those that are trained, Keras's or TensorFlow's.
        step: a `tf.function` that uses them, called under the strategy.
        arguments: what it is called with.
    """
    holds: dict[str, int] = {}
    for variable in variables:
        value = getattr(variable, "value", variable)
        variable = variable if callable(value) else value  # TensorFlow's own have a method
        for copy in getattr(variable, "values", [variable]):
            holds[short(copy.device)] = holds.get(short(copy.device), 0) + _bytes(copy)
    graph = step.get_concrete_function(*arguments).graph
    if workers := getattr(strategy, "_num_workers", 0):  # a parameter server's: each runs the graph
        replicas = [f"worker {i}" for i in range(workers)]
        travels = {key: n for name in replicas for key, n in _Flow(graph, name).bytes().items()}
    else:
        replicas = [short(name) for name in strategy.extended.worker_devices]
        travels = _Flow(graph, replicas[0]).bytes()
    return Placement(kind(strategy), replicas, holds, travels)


def kind(strategy: Any) -> str:
    """The name of the public class that a strategy is of."""
    import tensorflow as tf

    public = {
        "MultiWorkerMirroredStrategy": tf.distribute.MultiWorkerMirroredStrategy,
        "MirroredStrategy": tf.distribute.MirroredStrategy,
        "CentralStorageStrategy": tf.distribute.experimental.CentralStorageStrategy,
        "ParameterServerStrategy": tf.distribute.ParameterServerStrategy,
    }
    found = (name for name, its in public.items() if isinstance(strategy, its))
    return next(found, type(strategy).__name__)


def short(device: str) -> str:
    """A device's short name: `CPU:1`; in a cluster that of its process, `ps 0` or `worker 1`."""
    parts = dict(part.split(":", 1) for part in device.strip("/").split("/") if ":" in part)
    if parts.get("job", "localhost") != "localhost":
        return f"{parts['job']} {parts.get('task', '0')}"
    return parts.get("device", "CPU:0")


def _bytes(tensor: Any) -> int:
    count = tensor.shape.num_elements()
    return 0 if count is None or tensor.dtype.name == "resource" else count * tensor.dtype.size


class _Flow:
    """What flows between devices in a graph.

    Args:
        home: the device of operations that are placed on none.
    """

    def __init__(self, graph: Any, home: str) -> None:
        self._home = home
        self._lies = {handle.name: short(outer.device) for outer, handle in graph.captures}
        self._operations = _needed(graph)

    def bytes(self) -> dict[tuple[str, str, str], int]:
        # a tensor that several operations of a device need is sent there once
        sent = {entry[:4]: entry[4] for o in self._operations for entry in self._into(o)}
        found: dict[tuple[str, str, str], int] = {}
        for (start, end, what, _), size in sent.items():
            if start != end and size:
                found[start, end, what] = found.get((start, end, what), 0) + size
        return found

    def _into(self, operation: Any) -> Iterator[tuple[str, str, str, str, int]]:
        """(from, to, what, name of the tensor, bytes) of all that an operation needs."""
        here = self._place(operation)
        if operation.type.startswith(_REDUCE) and operation.inputs[0].shape.rank:
            value = operation.inputs[0]
            yield here, EVERYBODY, GRADIENTS, value.name, _bytes(value)
        for tensor in operation.inputs:
            if tensor.shape.rank == 0:  # a loss, a count
                continue
            if tensor.op.type == _READ:
                handle = tensor.op.inputs[0].name
                yield self._lies.get(handle, here), here, WEIGHTS, handle, _bytes(tensor)
            elif tensor.op.inputs:  # an operation without inputs is an argument or a constant
                there = self._place(tensor.op)
                yield there, here, GRADIENTS, tensor.name, _bytes(tensor)

    def _place(self, operation: Any) -> str:
        if operation.type.startswith(_UPDATES):  # a variable is changed where it lies
            return self._lies.get(operation.inputs[0].name, self._home)
        mine = " " in self._home and "job:" not in operation.device  # some device of this process
        return self._home if mine or not operation.device else short(operation.device)


def _needed(graph: Any) -> list[Any]:
    """The operations that have an effect: TensorFlow leaves out the others."""
    left = [tensor.op for tensor in graph.outputs] + list(graph.control_outputs)
    found: dict[str, Any] = {}
    while left:
        operation = left.pop()
        if operation.name not in found:
            found[operation.name] = operation
            left += [tensor.op for tensor in operation.inputs] + list(operation.control_inputs)
    return list(found.values())
