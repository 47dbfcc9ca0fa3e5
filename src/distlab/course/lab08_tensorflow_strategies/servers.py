"""A parameter server, its workers and their coordinator, each a process of its own.

One rank starts all of them; they end with it. A worker can be killed in the middle of a step and
started again under the same address.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from distlab.course.lab08_tensorflow_strategies import stall, strategies
from distlab.rank import child_process
from distlab.rank.sharing import Board

POLL = 0.02
UP = 600.0  # seconds in which a server answers, however busy the machine; its run ends before
STARTS = 3  # of a server that ends by itself before it listens
FIRST = 5.0  # seconds within which a program schedules its first step
ALONE = 0.5  # seconds after the first step within which those of the other workers arrive


@dataclass(frozen=True)
class Gate:
    """A gate at which steps wait until it is open, so that a worker can be killed in mid-step.

    Args:
        folder: where each step that arrives leaves a file, and where a file `closed` lies while the
            gate is closed.
    """

    folder: str

    @property
    def closed(self) -> Path:
        return Path(self.folder, "closed")

    def close(self) -> None:
        self.closed.touch()

    def open(self) -> None:
        self.closed.unlink(missing_ok=True)

    def wait_for(self, workers: int, process: child_process.Process) -> None:
        """Wait until as many steps have arrived as there are workers, or no more are expected."""
        most = time.monotonic() + FIRST
        while not process.ended(POLL) and time.monotonic() < most:
            came = len(list(Path(self.folder).glob("step-*")))
            if came >= workers:
                return
            if came:
                most = min(most, time.monotonic() + ALONE)

    def passed(self) -> Any:
        """Inside a step: wait at the gate. Returns a 1.0 that depends on its having been open."""
        import tensorflow as tf

        now = tf.strings.as_string(tf.timestamp(), precision=9)
        come = tf.io.write_file(tf.strings.join([self.folder, "/step-", now]), "")

        def shut(looks):
            # the pattern depends on the loop's variable, so that it is not hoisted out of the loop
            nothing = tf.strings.substr(tf.strings.as_string(looks), 0, 0)
            found = tf.io.matching_files(tf.strings.join([self.folder, "/closed", nothing]))
            return tf.size(found) > 0

        def stay(looks):
            return looks + 1

        with tf.control_dependencies([come]):
            looks = tf.while_loop(shut, stay, [tf.constant(0)])[0]
        return tf.cast(looks >= 0, tf.float32)


@dataclass
class Story:
    """What became of the servers: (job, index, process id) of each that was started; which worker
    was killed, when, and when it was back, in seconds since 1970.
    """

    processes: list[tuple[str, int, int]] = field(default_factory=list)
    lost: int | None = None
    killed: float | None = None
    back: float | None = None


class Servers:
    """One parameter server and some workers, as processes of this rank. A context manager."""

    def __init__(self, workers: int = 2) -> None:
        strategies.unused()
        with strategies.free_addresses(workers + 1) as addresses:
            self.cluster = {"ps": addresses[:1], "worker": addresses[1:]}
        self._processes: dict[tuple[str, int], child_process.Process] = {}
        self.story = Story()

    def start(self, job: str, index: int = 0) -> None:
        """Start a server, or start it again."""
        cluster = self.cluster

        def serve() -> None:
            import tensorflow as tf

            os.environ["GRPC_FAIL_FAST"] = "use_caller"
            strategies.prepare()
            spec = tf.train.ClusterSpec(cluster)
            tf.distribute.Server(spec, job_name=job, task_index=index, protocol="grpc").join()

        process = self._processes[job, index] = child_process.Process(serve)
        self.story.processes.append((job, index, process.pid))

    def up(self) -> None:
        """Wait until all of them listen. One that ends by itself, because its address was somebody
        else's just then, is started again.

        Raises:
            TimeoutError: one does not.
        """
        deadline = time.monotonic() + UP
        for job, index in list(self._processes):
            starts = 1
            while not _listens(self.cluster[job][index]):
                process = self._processes[job, index]
                ended = process.ended()
                if time.monotonic() > deadline or (ended and starts == STARTS):
                    raise TimeoutError(f"{job} {index} does not answer at its address")
                if ended:
                    self.story.processes.remove((job, index, process.pid))
                    self.kill(job, index)
                    self.start(job, index)
                    starts += 1
                time.sleep(POLL)

    def kill(self, job: str, index: int) -> None:
        """End a server as a crash would."""
        self._processes.pop((job, index)).end()

    def __enter__(self) -> Servers:
        for job, addresses in self.cluster.items():
            for index in range(len(addresses)):
                self.start(job, index)
        self.up()
        return self

    def __exit__(self, *exc) -> None:
        for process in self._processes.values():
            process.end()


def _listens(address: str) -> bool:
    host, _, port = address.rpartition(":")
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((host, int(port))) == 0


def process_id() -> Any:
    """Inside a step: the id of the process that runs it, as a float64."""
    import tensorflow as tf

    words = tf.strings.split(tf.io.read_file("/proc/self/stat"))
    return tf.strings.to_number(words[0], tf.float64)


def work(seconds: float) -> None:
    """Inside a step: be busy for a while."""
    import tensorflow as tf

    begin = tf.timestamp()
    tf.while_loop(lambda i: tf.timestamp() - begin < seconds, lambda i: i + 1, [tf.constant(0)])


def coordinate(
    function: Callable[..., Any],
    *args: Any,
    kill: int | None = None,
    workers: int = 2,
    report: bool = False,
) -> Any:
    """Call `function(coordinator, gate, *args)` in the coordinator's process, over real servers.

    Args:
        kill: the worker that is killed while every worker waits at the gate in the middle of a
            step, and started again. `None` leaves them alone and the gate open.

    Returns:
        What the function returned; with `report` the `Story` beside it.
    """
    board = Board(0, 1)
    gate = Gate(str(board.folder))
    path = board.folder / "0.place"
    if kill is not None:
        gate.close()
    with Servers(workers) as servers:
        cluster = servers.cluster

        def body() -> Any:
            stall.listen(path)
            return function(coordinator(cluster), gate, *args)

        with child_process.Process(body) as process:
            if kill is not None:
                gate.wait_for(workers, process)
                servers.story.lost, servers.story.killed = kill, time.time()
                servers.kill("worker", kill)
                servers.start("worker", kill)
                servers.up()
                servers.story.back = time.time()
                gate.open()
            stall.wait(process, board, path)
            result = process.result()
    return (result, servers.story) if report else result


def coordinator(cluster: dict[str, list[str]]) -> Any:
    """The coordinator of servers that listen, in this process."""
    import tensorflow as tf

    os.environ["GRPC_FAIL_FAST"] = "use_caller"
    strategies.prepare()
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec(cluster), rpc_layer="grpc"
    )
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    return tf.distribute.coordinator.ClusterCoordinator(strategy)
