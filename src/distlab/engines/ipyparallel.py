"""Where warm ranks come from.

`LocalEngines` are ipyparallel engines on this machine, with their own controller. Forked from a
zygote they are up in a fraction of the time of `ipyparallel.Cluster`, and a killed one is replaced
in well under a second; where nothing can be forked they are spawned (`distlab.processes.starting`).
`AttachedEngines` are those of a cluster that somebody else runs: an ipyparallel profile, Slurm,
MPI. (A notebook's usual ranks are `distlab.engines.warm.WarmRanks`, the grader's
`distlab.engines.forked.ForkedEngines`: neither needs ipyparallel.)

Rank is not engine id: ids are never reused, and the mapping is kept here and nowhere else.
"""

from __future__ import annotations

import atexit
import concurrent.futures
import contextlib
import math
import os
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from distlab.processes import clocks, entry_points, forkserver, frameworks, ports, starting
from distlab.processes.run_delay import RunDelay
from distlab.processes.zygote import ENGINE_PRELOAD, PRELOAD, ZygoteLost

if TYPE_CHECKING:  # nothing here imports NumPy before the zygote is on its way
    from traitlets.config import Config

    from distlab.processes import payload

ANSWER = 3.0  # seconds in which the engines of a running cluster have to answer
ASKED_AGAIN = 1.0  # seconds after which an engine that has not said who it is is asked again
STARTING = 60.0, 180.0  # seconds in which engines start that are forked, or spawned
_NONE = -1  # in place of the id of an engine, or of its process
_held: ports.Held | None = None  # the port that this engine holds for the run about to begin
CONTROLLER_TRIES = 5  # ipyparallel chooses free ports before it binds them: others may take them


class AttachedEngines:
    """The engines of an ipyparallel cluster that runs already; rank r is the r-th by engine id.

    Args:
        client: a connected `ipyparallel.Client`.
        folder: a folder that this process and the engines share; the home's cache by default.
        own: the client is closed with these engines; else somebody goes on using it.
    """

    def __init__(self, client: Any, folder: Path | None = None, own: bool = False) -> None:
        self.client, self._own = client, own
        self._own_folder = folder is None
        if folder is None:
            folder = Path(tempfile.mkdtemp(prefix="ranks-", dir=cache()))
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
        self.folder = folder
        self.ids: list[int] = answering(client)
        self._pending: dict[Any, int] = {}  # ipyparallel's `AsyncResult` → rank
        self._leaving: list[Any] = []

    def __len__(self) -> int:
        return len(self.ids)

    def send(self, rank: int, task: Sequence[payload.Block], within: float = math.inf) -> None:
        future = self.client[self.ids[rank]].apply_async(_execute, b"".join(task))
        self._pending[future] = rank

    def busy(self) -> list[int]:
        """Ranks that carry a task which they have not answered."""
        return sorted(set(self._pending.values()))

    def receive(self, timeout: float) -> list[tuple[int, payload.Block | None]]:
        done: set[Any] = concurrent.futures.wait(
            list(self._pending), timeout, concurrent.futures.FIRST_COMPLETED
        ).done
        answers: list[tuple[int, payload.Block | None]] = []
        for future in done:
            rank = self._pending.pop(future)
            try:
                answers.append((rank, future.get(timeout=1)))
            except Exception as error:
                if "EngineError" not in (type(error).__name__, getattr(error, "ename", "")):
                    raise
                answers.append((rank, None))
        return answers

    def settle(self) -> None:
        """Before a run: engines that have ended meanwhile are ranks no longer."""
        gone = self._gone()
        self.ids = [engine for rank, engine in enumerate(self.ids) if rank not in gone]

    def _gone(self) -> set[int]:
        """Ranks whose engine the controller lists no longer."""
        listed = set(self.client.ids)
        return {rank for rank, engine in enumerate(self.ids) if engine not in listed}

    def tidy(self, size: int, left: Sequence[int]) -> None:
        """Have them leave the groups of a run that is over, now that nobody waits for it."""
        for leaves in self._leaving:
            if leaves.ready():
                with contextlib.suppress(Exception):  # the engine may be another by now
                    leaves.get()
        self._leaving = [self.client[i].apply_async(_leave) for i in self.ids[:size]]

    def replace(self, ranks: Sequence[int]) -> None:
        """Kill the engines of these ranks. Only their own launcher could bring them back."""
        for rank in ranks:
            with contextlib.suppress(Exception):
                self.client.send_signal(signal.SIGKILL, targets=[self.ids[rank]], block=True)
        self._forget(ranks)
        gone = {self.ids[rank] for rank in ranks}
        self.ids = [i for i in self.ids if i not in gone]

    def _forget(self, ranks: Sequence[int]) -> None:
        self._pending = {f: r for f, r in self._pending.items() if r not in ranks}

    def store(self, run: Path) -> list[Any]:
        host, port = self.client[self.ids[0]].apply_sync(_address)
        return ["tcp", host, port]

    def machines(self) -> list[str]:
        asked = {i: self.client[i].apply_async(_machine) for i in self.ids}
        return [asked[i].get(timeout=ANSWER) for i in self.ids]

    def clock(self, rank: int) -> float:
        shows: float = self.client[self.ids[rank]].apply_sync(_clock)
        return shows

    def close(self) -> None:
        if self._own:
            self.client.close()
        if self._own_folder:
            shutil.rmtree(self.folder, ignore_errors=True)


def cache() -> Path:
    """A folder of this user's that all machines of a cluster can reach: below the home."""
    found = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "distlab"
    found.mkdir(parents=True, exist_ok=True)
    return found


class LocalEngines(AttachedEngines):
    """`size` ipyparallel engines on this machine, from the same source as their controller. They
    start when that has imported everything that ranks need, and are not replaced between runs as
    `WarmRanks` are: what users leave on an engine must stay there.
    """

    def __init__(self, size: int, way: starting.Way | None = None) -> None:
        self._pids: list[int] = []
        self._delay, self._owner = RunDelay(), os.getpid()
        self._asked: dict[int, list[tuple[float, Any]]] = {}  # when, and what came of it, by id
        self._seen: set[int] = set()  # ids looked at so far: dead engines stay listed for seconds
        self._engines: dict[int, int] = {}  # ids of living engines, by process id
        self._late: dict[int, int] = {}  # process ids, by rank, of engines that are still starting
        way = way or starting.way()
        self._timeout = STARTING[not way.forks]
        self._source = way.source((*ENGINE_PRELOAD, *PRELOAD, *frameworks.preload()))
        atexit.register(self.close)
        self.client, self._pending, self.ids = None, {}, []
        try:
            self._connect(size)
            self.grow(size)
        except BaseException:  # nobody else knows of the source
            self.close()
            raise

    def _connect(self, size: int) -> None:
        """Start the controller and connect, while the source imports torch for `size` engines."""
        folder = self._source.folder
        self._source.prepare(1 + size)
        start_controller(self._source)
        import ipyparallel

        file = folder / "security" / "ipcontroller-client.json"
        super().__init__(ipyparallel.Client(str(file), timeout=self._timeout), folder)

    def grow(self, size: int) -> None:
        """Have at least `size` engines."""
        more = max(size - len(self), 0)
        self._pids += [_NONE] * more
        self.ids += [_NONE] * more
        self.settle()

    def settle(self) -> None:
        """Before a run: start an engine wherever one has ended or its start was interrupted, and
        wait for those that are still starting.
        """
        self.replace([rank for rank in range(len(self)) if not self._lives(rank)])
        self._place(self._late)
        self._late = {}

    def ripen(self, function: payload.Block | None = None) -> bool:
        """See `WarmRanks.ripen`: no engine is forked early."""
        return False

    def _pid(self, rank: int) -> int:
        return self._late.get(rank, self._pids[rank])

    def _lives(self, rank: int) -> bool:
        return self._pid(rank) != _NONE and not self._source.ended(self._pid(rank))

    def _start(self, new: Sequence[int]) -> None:
        """Start engines for these ranks. `settle` waits for them before the next run, so that the
        end of this one need not wait until spawned engines have imported torch.
        """
        try:
            whole = self._source.forks(len(new), entry_points.ENGINE, folder=str(self.folder))
            self._late.update(zip(new, whole.pids(), strict=True))
        except ZygoteLost:  # others begin the next time
            self.close()
            raise

    def _place(self, pids: dict[int, int]) -> None:
        """Wait for the engines of these processes, by rank; from now on they carry these ranks."""
        deadline = time.monotonic() + self._timeout
        left = dict(pids)
        while left:
            self._look_at_new()
            for rank in [rank for rank, pid in left.items() if pid in self._engines]:
                self._pids[rank] = left.pop(rank)
                self.ids[rank] = self._engines[self._pids[rank]]
            if left and time.monotonic() > deadline:
                raise RuntimeError(
                    f"{len(left)} ranks did not start within {self._timeout:.0f} s; "
                    "close other programs or ask for fewer"
                )
            for rank in [rank for rank, pid in left.items() if self._source.ended(pid)]:
                self._start([rank])  # it gave up, or was killed where memory was short
                left[rank] = self._late[rank]
            if left:
                time.sleep(0.01)

    def _look_at_new(self) -> None:
        """Note which processes new engines are, as far as these have answered. They are asked again
        and again: an engine is listed before the controller's scheduler has its connection, and
        what that cannot deliver it drops without a word.
        """
        for engine in sorted(set(self.client.ids) - self._seen):
            asked = self._asked.setdefault(engine, [])
            answer = next((result for _, result in asked if result.ready()), None)
            if answer is not None:
                self._seen.add(engine)
                del self._asked[engine]
                with contextlib.suppress(Exception):  # it may have died meanwhile
                    self._engines[answer.get()] = engine
            elif not asked or time.monotonic() > asked[-1][0] + ASKED_AGAIN:
                result = self.client[engine].apply_async(os.getpid)
                asked.append((time.monotonic(), result))

    def tidy(self, size: int, left: Sequence[int]) -> None:
        """New engines take the place of those in which threads of a function go on."""
        super().tidy(size, left)
        if left:
            self.replace(left)

    def receive(self, timeout: float) -> list[tuple[int, payload.Block | None]]:
        return super().receive(timeout) or [(rank, None) for rank in self._died()]

    def _died(self) -> list[int]:
        """Busy ranks whose process has ended; ipyparallel's heartbeat would tell seconds later."""
        carrying = set(self._pending.values())
        ended = [rank for rank in carrying if self._source.ended(self._pids[rank])]
        self._forget(ended)
        return ended

    def replace(self, ranks: Sequence[int]) -> None:
        if not ranks:
            return
        self._kill([self._pid(rank) for rank in ranks])
        self._forget(ranks)
        self._start(ranks)

    def _kill(self, pids: Sequence[int]) -> None:
        for pid in pids:
            if pid != _NONE:  # to the kernel −1 means all processes of the user
                self._engines.pop(pid, None)
                self._source.end(pid)

    def store(self, run: Path) -> list[Any]:
        return ["file", str(run / "store")]

    def machines(self) -> list[str]:
        return [clocks.machine()] * len(self)

    def queued(self) -> float:
        """Seconds that the ranks, all together, have waited for a processor."""
        return self._delay.seconds([pid for pid in self._pids if pid > 0])

    def close(self) -> None:
        if os.getpid() != self._owner:  # a fork of the notebook ends: the ranks are not its own
            return
        atexit.unregister(self.close)
        self.ids = []  # so that `ranks.local` starts others
        if self.client is not None:
            with contextlib.suppress(Exception):
                self.client.close()
        self._source.close()


def start_controller(source: starting.Source, **options: Any) -> None:
    """Start ipyparallel's controller, which ends with the source; its files lie in its folder.

    Args:
        options: of `controller`.

    Raises:
        RuntimeError: it did not start.
    """
    if not any(_controller_started(source, options) for _ in range(CONTROLLER_TRIES)):
        raise RuntimeError("the ranks' controller did not start; try `distlab info`")


def _controller_started(source: starting.Source, options: dict[str, Any]) -> bool:
    """Start it. False where a port that it chose was taken before it could bind it."""
    _, ready = source.connect(
        entry_points.CONTROLLER, after=ENGINE_PRELOAD[-1], folder=str(source.folder), **options
    )
    with ready:
        # while it starts: what this process needs then, and for a first run
        import ipyparallel  # noqa: F401

        from distlab.engines import by_value, live, results  # noqa: F401

        return ready.recv(1) == b"1"


def answering(client: Any) -> list[int]:
    """The ids of engines that answer: a dead one stays listed for a while, a busy one is no use."""
    asked: dict[Any, int] = {}
    for engine in client.ids:
        with contextlib.suppress(IndexError):  # it was taken off the list just now
            asked[client[engine].apply_async(os.getpid)] = engine
    done: set[Any] = concurrent.futures.wait(asked, timeout=ANSWER).done
    return sorted(asked[future] for future in done if future.successful())


def _execute(task: bytes) -> bytes:
    """`execute.execute`, imported on the engine only: this process may do without torch."""
    from distlab.processes import payload
    from distlab.rank import execute

    return b"".join(execute.execute(payload.unpack(task)))


def _leave() -> None:
    from distlab.rank import leaving

    leaving.end_group()


def _machine() -> str:
    return clocks.machine()


def _clock() -> float:
    return clocks.now()


def _address() -> tuple[str, int]:
    """On rank 0's engine: the name of its machine, and a free port there, which this process holds
    until it is asked for another one.
    """
    global _held
    if _held is not None:
        _held.let_go()
    _held = ports.Held("")
    return socket.gethostname(), _held.port


def _app_config(folder: str) -> Config:
    from traitlets.config import Config

    config = Config()
    config.ProfileDir.location = folder
    config.BaseParallelApplication.log_to_file = False
    config.IPController.log_level = config.IPEngine.log_level = "CRITICAL"
    config.IPController.use_threads = True
    config.HeartMonitor.period = 100
    config.HeartMonitor.max_heartmonitor_misses = 100  # a busy rank is not a dead one
    config.IPEngine.enable_nanny = False
    config.IPEngine.timeout = STARTING[0]  # for the controller to answer: a busy machine is slow
    config.InteractiveShell.history_manager = None
    config.HistoryManager.enabled = False
    return config


def controller(
    ready: socket.socket, folder: str, ip: str = "127.0.0.1", location: str = "127.0.0.1",
    period: int = 100,
) -> None:  # fmt: skip
    """The ipyparallel controller of ranks; says on `ready` when its files are written.

    Args:
        ip: the interface that it listens on, `*` for all.
        location: the name or address under which engines find it.
        period: milliseconds between its heartbeats.
    """
    from ipyparallel.controller.app import IPController

    class Controller(IPController):
        def start(self) -> None:
            ready.sendall(b"1")
            ready.close()
            super().start()

    forkserver.log_to(Path(folder) / "controller.log")
    config = _app_config(folder)
    config.HeartMonitor.period = period
    app = Controller.instance(config=config)
    app.initialize(
        [f"--profile-dir={folder}", f"--ip={ip}", f"--location={location}", "--log-level=50"]
    )
    app.start()


def engine(folder: str) -> None:
    """One ipyparallel engine: a rank."""
    from ipyparallel.engine.app import IPEngine

    forkserver.log_to(Path(folder) / "engines.log")
    app = IPEngine.instance(config=_app_config(folder))
    app.initialize([f"--profile-dir={folder}", "--log-level=50"])
    app.start()
