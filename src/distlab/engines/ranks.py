"""Run a function on every rank, from a notebook.

    ranks = Ranks(4)
    ranks.run(exchange, each([tensor_of_rank_0, …]))

The function may be defined in a notebook cell: it travels by value. The result holds what each
rank returned, and draws itself. Nothing here can hang: a run has a deadline, and one that provably
cannot end is ended at once.
"""

from __future__ import annotations

import contextlib
import functools
import html
import inspect
import linecache
import os
import sys
import threading
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from distlab.engines import progress
from distlab.engines.outcomes import Run
from distlab.processes import frameworks, machine, starting, wrong_argument
from distlab.processes.wrong_argument import WrongArgument
from distlab.processes.zygote import PRELOAD

if TYPE_CHECKING:
    from distlab.engines import live
    from distlab.engines.results import Result
    from distlab.records.choices import Schedule

SLURM = "slurm"  # as the name of a cluster: the ranks are a Slurm job
DEADLINE = 60.0  # seconds
_pool: Any = None  # the ranks of this machine, which all `Ranks` of this process share
#: held while ranks are started or used: threads of a notebook would take each other's answers
turn = threading.RLock()


def _forget() -> None:
    """In a fork of the notebook: the ranks stay the notebook's, the fork starts its own."""
    global _pool, turn
    _pool, turn = None, threading.RLock()


os.register_at_fork(after_in_child=_forget)


class each:
    """An argument that differs from rank to rank: `each([a, b])` gives rank 0 a and rank 1 b."""

    _WANTED = "each takes a list with a value for each rank, each([a, b]) say"

    @wrong_argument.takes(_WANTED)
    def __init__(self, values: Sequence[Any]) -> None:
        self.values = wrong_argument.listed(values, self._WANTED)


class NoFunction(WrongArgument):
    """What was to be run on the ranks is no function."""


class Ranks:
    """`size` warm ranks: processes of their own, one per GPU with NCCL where there are enough, else
    gloo.

    Args:
        size: number of ranks; the cores that this process may use (2 to 4) where it is left out.
        cluster: an ipyparallel profile, connection file, `Client` or `Cluster` to attach to, or
            "slurm" for ranks that are a Slurm job of their own. By default ranks are forked on this
            machine and shared by all `Ranks` of this process; they are ipyparallel's engines from
            the time on when `client` or `view` are asked for.
        deadline: seconds after which a run is ended.

    Raises:
        WrongArgument: no number of ranks, or more than the machine can carry.
        ValueError: more ranks than the cluster has.
        SlurmFailed: Slurm is not here, refuses, or ended the job.
    """

    _WANTED = "Ranks takes a number of ranks, Ranks(4) say"

    @wrong_argument.takes(_WANTED)
    def __init__(
        self, size: int | None = None, *, cluster: Any = None, deadline: float = DEADLINE
    ) -> None:
        if os.environ.get("DISTLAB_GRADING"):
            raise RuntimeError("while a notebook is graded, its cells start no ranks of their own")
        usual = min(4, max(2, machine.cores()))
        self.size = usual if size is None else wrong_argument.whole(size, self._WANTED)
        self.deadline = wrong_argument.seconds(deadline, "deadline")
        with progress.line(f"{self.size} processes are being started"):
            if cluster is None:
                self._own = None
                local(self.size)
            elif cluster == SLURM:
                self._own = _submitted(self.size)
            else:
                self._own = attach(cluster, self.size)

    @property
    def _engines(self) -> Any:
        """Of this machine, those that the process shares now: earlier ones may have been ended."""
        return local(self.size) if self._own is None else self._own

    def _settle(self) -> None:
        """Have as many ranks as were asked for.

        Raises:
            ValueError: the cluster has lost some.
        """
        with turn:
            self._engines.settle()
            if len(self._engines) < self.size:
                raise ValueError(
                    f"the cluster has {len(self._engines)} engines left of {self.size}: start its "
                    "engines again and make new Ranks"
                )

    def __enter__(self) -> Ranks:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End ranks that are a job, or let go of those of a cluster; local ones are shared."""
        if self._own is not None:
            self._own.close()

    @property
    def client(self) -> Any:
        """The ipyparallel client of these ranks.

        Those of this machine are ended and begin anew as ipyparallel's engines, for all `Ranks` of
        this process, where they are none yet: that takes two seconds, once.
        """
        with turn:  # a run in another thread settles them, too
            if self._own is None:
                clustered(self.size)
            self._settle()
            return self._engines.client

    @property
    def view(self) -> Any:
        """Their ipyparallel view in the order of ranks; `view.activate()` gives `%px`."""
        return self.client[list(self._engines.ids[: self.size])]

    @wrong_argument.takes(
        "run takes a function and what it is called with, ranks.run(hello, 3) say"
    )
    def run(
        self,
        function: Callable[..., Any],
        *args: Any,
        deadline: float | None = None,
        may_fail: bool = False,
        seed: int | None = None,
        strict: bool = False,
        schedules: str | None = None,
        most: int = 500,
        budget: float = 30.0,
    ) -> Result:
        """Call `function(rank, size, *args)` on every rank, in a process group of their own.

        Args:
            args: each the same for all ranks, or an `each([...])`.
            deadline: seconds, the ranks' own by default.
            may_fail: return the result even when a rank raised, hung or died.
            seed: seed Python, NumPy and torch on every rank with it.
            strict: give non-blocking receives their content only when they are waited for.
            schedules: "all" runs the function in every order in which messages can arrive where it
                receives from any source, with each answer that `is_completed` can give, and with
                sends that are buffered or not, and returns an `AllSchedules`; the name of a
                schedule runs that one alone.
            most: schedules after which no more are run.
            budget: seconds after which no more schedules are run.

        Raises:
            RunFailed: a rank raised, hung or died, and `may_fail` is false.
            NotSent: the function or an argument uses something that cannot leave this process.
            WrongArgument: an argument cannot be used; `schedules` names no schedule of this
                function, say.
            NoFunction: `function` is something else.
        """
        if not callable(function):
            raise NoFunction(
                f"run takes a function, and this is of type {type(function).__name__}: write the "
                "function's name without parentheses, ranks.run(hello) say. What it takes after "
                "rank and size follows a comma: ranks.run(hello, 3)"
            )
        within = self.deadline if deadline is None else wrong_argument.seconds(deadline, "deadline")
        if seed is not None:
            seed = wrong_argument.whole(seed, "seed is a whole number, seed=0 say")
        from distlab.engines import by_value, live, runs  # NumPy: ranks begin to start before it
        from distlab.engines.exploring import IMPOSSIBLE, Explorer
        from distlab.engines.results import AllSchedules, Result, RunFailed
        from distlab.records.deadlock import Watcher

        self._settle()
        inputs = [
            by_value.dumps(((rank, self.size, *(_of(a, rank, self.size) for a in args)), {}))
            for rank in range(self.size)
        ]
        name, pickled = getattr(function, "__name__", "the function"), by_value.dumps(function)

        def drive(schedule: Schedule | None = None, seen: live.Live | None = None) -> Run:
            with turn:
                return runs.drive(
                    self._engines, pickled, inputs, sources=sources_of(function, *args),
                    deadline=within, watch=Watcher(), seed=seed, strict=strict,
                    schedule=schedule, keeps=True, live=seen,
                )  # fmt: skip

        with progress.line(f"{name} runs on {self.size} rank{'s' * (self.size > 1)}"):
            if schedules == "all":
                found = Explorer(drive, most, budget).explore(drive())
                result: Result = AllSchedules(name, found.explored[0].run, found)
            else:
                with live.shown(f"{name} on {self.size} ranks") as seen:
                    run = drive(_schedule(schedules), seen)
                if run.finding is not None and run.finding.kind == IMPOSSIBLE:
                    raise WrongArgument(f"{name} has no schedule {schedules!r}")
                result = Result(name, run)
        if not result.ok and not may_fail:
            raise RunFailed(result)
        return result

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"

    def __repr__(self) -> str:
        from distlab.rank import world

        backend = world.backend_for(self.size)
        where = "GPUs" if backend == "nccl" else "CPU"
        if backend == "gloo" and world.gpu_count():
            where = f"{world.gpu_count()} GPU shared"
        return (
            f"Ranks({self.size}): {self.size} processes on {where}, back end {backend}"
            f"; this notebook may use {machine.told()}"
        )


def _of(argument: Any, rank: int, size: int) -> Any:
    if not isinstance(argument, each):
        return argument
    if (count := len(argument.values)) != size:
        values = "1 value" if count == 1 else f"{count} values"
        raise WrongArgument(f"each() has {values} for {size} ranks: it takes one for each rank")
    return argument.values[rank]


def _schedule(name: Any) -> Schedule | None:
    """The schedule of a name, where one was given."""
    from distlab.records.choices import Schedule

    if not name:
        return None
    if not isinstance(name, str):
        raise WrongArgument(f'schedules is "all" or a name, and {wrong_argument.quoted(name)}')
    try:
        return Schedule.named(name)
    except ValueError as error:
        raise WrongArgument(str(error)) from None


def check_size(size: int, who: str) -> None:
    """Refuse more ranks than this machine can carry.

    Args:
        who: who asks for them, in the words of a message: "a notebook".

    Raises:
        WrongArgument: these are too many, or none.
    """
    limit = machine.ranks()
    if 1 <= size <= limit:
        return
    from distlab.rank import world  # GPUs are counted only where it matters: that imports torch

    if not 1 <= size <= world.gpu_count():
        raise WrongArgument(
            f"{size} ranks where {who} may use {machine.told()}: ask for 1 to {limit}, or set "
            "DISTLAB_MAX_RANKS if you know that it can carry more"
        )


def local(size: int) -> Any:
    """The ranks that this process shares, at least `size` of them."""
    global _pool
    with turn:
        if _pool is not None and 1 <= size <= len(_pool):
            return _pool  # what the machine can carry was checked then: that takes milliseconds
        check_size(size, "a notebook")
        if _pool is None or not len(_pool):  # none yet, or all have been ended
            _pool = _warm(size)
        else:
            _pool.grow(size)
        return _pool


def clustered(size: int) -> Any:
    """The same as `local`, but from now on they are ipyparallel's engines."""
    global _pool
    from distlab.engines.ipyparallel import LocalEngines

    with turn:
        if not isinstance(_pool, LocalEngines) or not len(_pool):
            check_size(size, "a notebook")
            size = max(size, len(_pool or ()))
            end_local()
            _pool = LocalEngines(size)
        return local(size)


def _warm(size: int) -> Any:
    source = starting.way().source((*PRELOAD, *frameworks.preload()))
    try:  # while it imports torch, this process imports what a run needs
        from distlab.engines import by_value, exploring, live, results  # noqa: F401
        from distlab.engines.warm import WarmRanks
        from distlab.records import deadlock  # noqa: F401

        return WarmRanks(size, source)
    except BaseException:
        source.close()
        raise


def end_local() -> None:
    """End the ranks that this process shares; whoever asks for them next gets others."""
    global _pool
    if _pool is not None:
        _pool.close()
        _pool = None


def _submitted(size: int) -> Any:
    """Engines as a Slurm job, whose states are shown while it starts."""
    from distlab.engines.slurm.engines import SlurmEngines
    from distlab.engines.slurm.submit import Terminal

    return SlurmEngines(size, says=Terminal().state)


def attach(cluster: Any, size: int) -> Any:
    """The engines of a running ipyparallel cluster, at least `size` of them."""
    import ipyparallel

    from distlab.engines.ipyparallel import AttachedEngines

    client = cluster
    if hasattr(cluster, "connect_client_sync"):
        client = cluster.connect_client_sync()
    elif isinstance(cluster, (str, os.PathLike)):
        named = os.fspath(cluster)
        client = (
            ipyparallel.Client(named)
            if named.endswith(".json")
            else ipyparallel.Client(profile=named)
        )
    engines = AttachedEngines(client, own=client is not cluster)
    if len(engines) < size:
        engines.close()
        raise ValueError(f"the cluster has {len(engines)} engines, {size} ranks were asked for")
    return engines


def sources_of(*functions: Any) -> dict[str, str]:
    """The source of the cells that functions and their companions come from, for tracebacks and for
    what reads a function's source, as TensorFlow does to make a graph of its loops.
    """
    found: dict[str, str] = {}
    own = [one for function in functions for one in _functions(function)]
    scopes = [getattr(plain, "__globals__", {}) for plain in own]
    companions = {id(one): one for scope in scopes for one in scope.copy().values()}
    for companion in [*own, *(one for each in companions.values() for one in _functions(each))]:
        name = file_of(companion)
        known = linecache.cache.get(name, ())
        # a file's was changed at some time, a cell's never; of one not read yet there is one item
        if len(known) == 4 and known[1] is None:
            found[name] = "".join(known[2])
    return found


def _functions(value: Any) -> list[Any]:
    """The functions that a value consists of: itself without its decorators, the methods of a class
    that a notebook defines, and those of an object of such a class with the functions that it
    holds, as a decorator that is a class holds one.
    """
    if _is_function(value):
        inner = _unwrapped(value)
        return [getattr(inner, "__func__", inner)]
    if type(value) is types.ModuleType:
        return []
    kind = value if issubclass(type(value), type) else type(value)
    contents = _CONTENTS(kind)
    if not _of_a_notebook(contents.get("__module__")):
        return []
    held = list(contents.values())
    if kind is not value:
        with contextlib.suppress(Exception):  # it has slots, or says otherwise what it holds
            held += object.__getattribute__(value, "__dict__").values()
    return [one for each in held if _is_function(each) for one in _functions(each)]


#: what a class holds, whatever its metaclass says of that
_CONTENTS = type.__dict__["__dict__"].__get__


def _of_a_notebook(module: Any) -> bool:
    home = sys.modules.get(module) if type(module) is str else None
    return type(home) is types.ModuleType and not getattr(home, "__spec__", None)


def file_of(value: Any) -> str:
    """The file or cell that a function was written in; "" for any other value."""
    code = getattr(_unwrapped(value), "__code__", None)
    return code.co_filename if code is not None else ""


_FUNCTIONS = types.FunctionType, types.MethodType, type(functools.lru_cache(len))


def _unwrapped(value: Any) -> Any:
    """The function inside a function's decorators; `None` for what is no function. Its type is
    asked, not its attributes: objects of a notebook may answer to any name, or raise anything.
    """
    if not _is_function(value):
        return None
    try:
        return inspect.unwrap(value, stop=_wraps_no_function)
    except ValueError:  # it is wrapped in itself
        return value


def _wraps_no_function(value: Any) -> bool:
    return not _is_function(value.__wrapped__)


def _is_function(value: Any) -> bool:
    return issubclass(type(value), _FUNCTIONS)
