"""TensorFlow in processes of its own: devices, workers that know each other, servers.

TensorFlow divides its devices once in a process, before its first operation, and joins a cluster
once. So whatever runs under a strategy here gets a process of its own, forked from a rank that has
TensorFlow imported and has not run it. All of them end with the rank.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from distlab.course.lab08_tensorflow_strategies import stall
from distlab.rank import child_process
from distlab.rank.sharing import Board

HOST = "127.0.0.1"
STACK = 1 << 20  # bytes of a thread's stack: the runtime starts a hundred threads a process
ARENAS = 2  # pools of memory that threads allocate from; by default eight for each core
_M_ARENA_MAX = -8  # malloc.h
STARTED = 30.0  # seconds in which the ranks of a run hear of each other


@dataclass(frozen=True)
class Place:
    """A worker's place in its cluster: its own index, and the addresses of all workers."""

    workers: list[str]
    index: int


def prepare(devices: int = 1) -> list[str]:
    """Set TensorFlow up in this process, which has not run it yet.

    Args:
        devices: how many devices there are to be. Where there are fewer GPUs, the CPU is divided
            into as many logical CPUs.

    Returns:
        The names of the devices, `["CPU:0", "CPU:1"]`.

    Raises:
        RuntimeError: it has run here, and cannot be set up again.
    """
    import tensorflow as tf

    unused()
    _modest()
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    gpus = tf.config.list_physical_devices("GPU")
    if gpus and len(gpus) >= devices:
        return [f"GPU:{i}" for i in range(devices)]
    logical = [tf.config.LogicalDeviceConfiguration()] * devices
    tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], logical)
    return [f"CPU:{i}" for i in range(devices)]


def unused() -> None:
    """Make sure that TensorFlow has not run in this process.

    Raises:
        RuntimeError: it has; processes that are forked from this one could not use it either.
    """
    from tensorflow.python.eager import context

    if context.context()._initialized:
        raise RuntimeError(
            "TensorFlow has already run on this rank, and it can be set up only once in a process: "
            "restart the kernel, and use TensorFlow inside of functions that run in processes of "
            "their own"
        )


def _modest() -> None:
    """Make threads cheap from now on: limits on memory count what is reserved for each of them."""
    libc = ctypes.CDLL(None)
    attributes = ctypes.create_string_buffer(64)  # a pthread_attr_t has at most that
    with contextlib.suppress(AttributeError):  # another C library than glibc
        libc.pthread_getattr_default_np(attributes)
        libc.pthread_attr_setstacksize(attributes, ctypes.c_size_t(STACK))
        libc.pthread_setattr_default_np(attributes)
        libc.mallopt(_M_ARENA_MAX, ARENAS)


@contextlib.contextmanager
def free_addresses(count: int = 1) -> Iterator[list[str]]:
    """Addresses of this machine on which nobody listens. They are held while the context lasts: the
    kernel may give the same port to two that ask for one after the other.
    """
    with contextlib.ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind((HOST, 0))
        yield [f"{HOST}:{probe.getsockname()[1]}" for probe in probes]


def run(
    function: Callable[..., Any],
    *args: Any,
    rank: int = 0,
    size: int = 1,
    devices: int = 1,
    config: Callable[[list[str], int], str] | None = None,
) -> Any:
    """Call `function(*args)` in a process of its own that has this many devices.

    On several ranks of one run these are workers of one cluster, and `function` gets its `Place`
    first. They stay until all have ended.

    Args:
        config: makes the text of `TF_CONFIG` out of all addresses and a worker's index.

    Raises:
        Raised: the function raised.
        Standstill: it waits for workers that have ended, or wait as well.
    """
    unused()
    board = Board(rank, size)
    if size > 1:
        with free_addresses() as (address,):
            board.note("address", address)
            place = Place(board.everybody("address", STARTED), rank)
        args = (place, *args)
    path = board.folder / f"{rank}.place"

    def body() -> Any:
        stall.listen(path)
        if config is not None:
            os.environ["TF_CONFIG"] = config(place.workers, rank)
        prepare(devices)
        return function(*args)

    with child_process.Process(body) as process:
        try:
            stall.wait(process, board, path)
            result = process.result()
        except (child_process.Raised, child_process.Died) as error:
            raised = isinstance(error, child_process.Raised)
            board.note("ended", stall.RAISED if raised else stall.DIED)
            raise
        board.note("ended", stall.RETURNED)
        stall.linger(board)
        return result


def multi_worker(place: Place) -> Any:
    """The strategy of workers that know each other's addresses."""
    import tensorflow as tf

    cluster = tf.train.ClusterSpec({"worker": place.workers})
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        cluster, task_type="worker", task_id=place.index, rpc_layer="grpc"
    )
    return tf.distribute.MultiWorkerMirroredStrategy(cluster_resolver=resolver)
