"""Call a function from several workers that share a store, each worker at its own moment.

With a `TCPStore` each worker is a process with its own connection; with a `HashStore` all are
threads of one process. These processes are forked from this one and end with the meeting, so that a
worker that waits forever delays it by no more than the given patience.
"""

from __future__ import annotations

import contextlib
import datetime
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from distlab.course.lab09_when_it_breaks import shifted_clock
from distlab.exercises.numpy_ints import as_plain
from distlab.processes import forkserver, payload

HASH, TCP = "HashStore", "TCPStore"
#: each operation is slow for every other worker: from the first one on in `SLOW`, else the second
SLOW, SLOW_OTHERS = "slow HashStore", "HashStore that is slow for the others"
SLOW_WRITERS = "HashStore to which every second worker writes slowly"
SLOWED = SLOW, SLOW_OTHERS, SLOW_WRITERS
PREFIXED_HASH, PREFIXED_TCP = f"PrefixStore over {HASH}", f"PrefixStore over {TCP}"
SLOWNESS = 0.2  # seconds that an operation takes some workers; the others a tenth of it
APART = 1000.0  # seconds between the clocks of two workers, where they differ
CONNECTING = 30.0  # seconds that workers have for their connections
LOOK = 0.01  # seconds between two looks at workers that have not answered
#: what a store says that is asked to add to a key that holds a text; a TCPStore, by hanging up
ADDED_TO_A_TEXT = r"\bstoll\b|Failed to recv|Connection was likely closed"
_NOT_THERE = "support is not implemented"  # what torch says of a store over a slow one
SOON = 0.02  # seconds from telling the workers to begin until the clock starts
#: the store's server and gloo look up the names of their peers, even on loopback: give up soon
_RESOLVER = {"RES_OPTIONS": "timeout:1 attempts:1"}
_now = time.monotonic  # the real one: workers may be given another clock


@dataclass(frozen=True)
class Call:
    """What a worker is to call: its arguments after the store, `at` seconds from the start."""

    at: float
    args: tuple = ()


@dataclass
class Answer:
    """What came of a call. Times are seconds from the start of the meeting.

    `returned` is `None` for a worker that had not returned when the patience was over. `value` is
    data (`distlab.processes.payload`), `error` an exception as described by
    `distlab.rank.exceptions.describe`.
    """

    called: float
    returned: float | None = None
    value: Any = None
    error: dict[str, Any] | None = None
    died: bool = False


class Meeting:
    """Workers that share a store, for one call after the other. A context manager.

    Args:
        function: called as `function(store, *args)`.
        workers: how many there are.
        store: one of `HASH`, `TCP`, `PREFIXED_HASH`, `PREFIXED_TCP`, or of those that are `SLOWED`.
        slowness: seconds that an operation of a slow store takes.
        clocks_differ: give each process its own clock: in worker i `time` and `datetime` are
            `APART`·i seconds ahead. (Threads share the clock of their process.)
    """

    def __init__(
        self,
        function: Callable[..., Any],
        workers: int,
        store: str,
        clocks_differ: bool = False,
        slowness: float = SLOWNESS,
    ) -> None:
        self.lag = 0.0  # the most seconds by which this process itself was late
        self.slow = store in SLOWED
        self._server, self._slowness = None, slowness
        everybody = range(workers)
        self._groups = [[w] for w in everybody] if TCP in store else [list(everybody)]
        self._hosts: list[tuple[int, Connection]] = []
        with _environment(_RESOLVER):
            try:
                for group in self._groups:
                    shift = APART * group[0] if clocks_differ else 0.0
                    self._hosts.append(self._start(function, group, store, shift))
                self._connect(store)
            except BaseException:
                self.end()
                raise

    def _start(self, function, workers: list[int], store: str, shift: float):
        ours, theirs = multiprocessing.Pipe()
        held = [connection for _, connection in self._hosts] + [ours]

        def serve() -> None:
            for connection in held:
                connection.close()
            _serve(theirs, function, workers, store, shift, self._slowness)

        pid = forkserver.spawn(serve)
        theirs.close()
        return pid, ours

    def _connect(self, store: str) -> None:
        """Tell the hosts where the store is, and wait until all have it."""
        port = 0
        if TCP in store:
            import torch.distributed as dist

            server = dist.TCPStore("127.0.0.1", 0, None, True, wait_for_workers=False)
            self._server, port = server, server.port
        for _, connection in self._hosts:
            connection.send(port)
        for _, connection in self._hosts:
            if not connection.poll(CONNECTING):
                raise TimeoutError(f"no connection to the store within {CONNECTING:.0f} s")
            connection.recv()

    def hold(self, calls: Sequence[Call | None], patience: float) -> list[Answer | None]:
        """Have each worker make its call; one whose call is `None` makes none.

        Args:
            patience: seconds from the start after which answers are no longer waited for. A worker
                that has not answered by then cannot be called again.
        """
        start = _now() + SOON
        answers = [call and Answer(call.at) for call in calls]
        pending = {w for w, answer in enumerate(answers) if answer}
        listening = {}
        for (_, connection), group in zip(self._hosts, self._groups, strict=True):
            listening[connection] = group
            with contextlib.suppress(OSError):  # it has died, and will not answer
                connection.send((start, {w: calls[w] for w in group if calls[w]}))
        self.lag = 0.0
        while pending and (before := _now()) < start + patience:
            heard = wait(list(listening), LOOK)
            if not heard:
                self.lag = max(self.lag, _now() - before - LOOK)
            for connection in heard:
                try:
                    worker, called, returned, value, error = connection.recv()
                except (EOFError, OSError):
                    for worker in pending.intersection(listening.pop(connection)):
                        answers[worker].died = True
                        pending.discard(worker)
                    continue
                answers[worker] = Answer(
                    called - start, returned - start, payload.decode(value), error
                )
                pending.discard(worker)
        return answers

    def end(self) -> None:
        """End the workers and the store."""
        for pid, connection in self._hosts:
            connection.close()
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        self._hosts, self._server = [], None

    def __enter__(self) -> Meeting:
        return self

    def __exit__(self, *exc) -> None:
        self.end()


@contextlib.contextmanager
def _environment(changes: dict[str, str]):
    """`mock.patch.dict` would empty the environment for a moment, while torch's threads read it."""
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def lacking(answers: Sequence[Answer | None]) -> bool:
    """Did a worker ask a slow store for what it does not have? A `PrefixStore` over one lacks
    `list_keys` and queues, so it cannot tell whether an answer that uses them is right.
    """
    return any(a and a.error and _NOT_THERE in a.error["message"] for a in answers)


def raise_what_ended(found: dict[str, Any]) -> None:
    """Raise here what ended a worker's call, if it was no return: its `error`, or that it `died`.

    Raises:
        Raised, Died: of `distlab.rank.child_process`.
    """
    from distlab.rank import child_process

    if error := found.get("error"):
        raise child_process.Raised(error)
    if found.get("died"):
        raise child_process.Died("the process of a worker ended in the middle of its call")


# inside the workers


def _serve(
    connection: Connection, function, workers: list[int], store: str, shift: float, slowness: float
) -> None:
    """Make the calls that arrive, until the connection is closed."""
    if shift:
        function = shifted_clock.install(shift, function)
    made = _store(store, connection.recv())
    # what calls need is imported now: it takes longer than there is from here to the first of them
    from distlab.course.lab09_when_it_breaks.slow_store import SlowStore
    from distlab.rank import exceptions

    def seen(worker: int):
        """The store as a worker sees it. Were it equally slow for all, no worker would overtake
        another between two operations.
        """
        if store not in SLOWED:
            return made
        seconds = slowness if worker % 2 == (store != SLOW) else slowness / 10
        return SlowStore(made, seconds, only_writing=store == SLOW_WRITERS)

    connection.send("connected")
    lock = threading.Lock()

    def tell(*answer) -> None:
        with lock:
            connection.send(answer)

    while True:
        try:
            start, calls = connection.recv()
        except (EOFError, OSError):
            return
        for worker, call in calls.items():
            args = (call, start, function, seen(worker), worker, tell, exceptions.describe)
            if len(workers) == 1:
                _make(*args)
            else:
                threading.Thread(target=_make, args=args, daemon=True).start()


def _store(kind: str, port: int):
    import torch.distributed as dist

    if TCP in kind:
        made = dist.TCPStore(
            "127.0.0.1", port, None, False, datetime.timedelta(minutes=5), wait_for_workers=False
        )
    else:
        made = dist.HashStore()
    return dist.PrefixStore("job-7", made) if kind.startswith("PrefixStore") else made


def _make(call: Call, start: float, function, store, worker: int, tell, describe) -> None:
    value, error = None, None
    time.sleep(max(start + call.at - _now(), 0.0))
    called = _now()
    try:
        value = as_plain(function(store, *call.args))
    except (Exception, SystemExit, KeyboardInterrupt) as raised:
        error = describe(raised)
    tell(worker, called, _now(), payload.encode(value, arrays=False), error)
