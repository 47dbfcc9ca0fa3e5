"""`distlab run`: a lab script, or a function of a notebook, on ranks of this machine.

Ranks get torchrun's environment variables, so a script runs unchanged under torchrun and sbatch.
They are started as this machine allows (`distlab.processes.starting`) and recorded; each line they
print is labelled with the rank it came from; a run that provably cannot end is ended with its
explanation.
"""

from __future__ import annotations

import os
import runpy
import selectors
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from distlab.engines import notebook_function, ranks
from distlab.processes import entry_points, ports, starting
from distlab.records import events, reading
from distlab.records.deadlock import Watcher
from distlab.viz import chrome_trace

LOOK = 0.25  # seconds between two looks at the records
GRACE = 10.0  # seconds that a rank has to print its traceback: a machine may be busy


def launch(
    program: Path,
    size: int,
    arguments: Sequence[str] = (),
    function: str | None = None,
    trace: Path | None = None,
    timeout: float | None = None,
) -> int:
    """Run `program` on `size` ranks and follow what they print.

    Args:
        function: of a notebook, called as `function(rank, size)` in an initialised process group.
        trace: file for a Chrome/Perfetto trace of the run.
        timeout: seconds after which the run is ended.

    Returns:
        0, or 1 when a rank failed, hung or was ended.

    Raises:
        ValueError: the program is not there or is of no known kind, it has no such function, or
        there is no room for so many ranks.
    """
    _checked(program, size, arguments, function)
    # the port is held, since ranks take seconds until one of them listens there
    with starting.way().source(spares=0) as source, ports.Held() as held:
        source.prepare(size)
        run = _Running(
            source, source.folder, program.resolve(), size, list(arguments), function, held.port
        )
        try:
            return run.follow(timeout)
        finally:  # of a run that is interrupted a trace is wanted most of all
            run.stop()
            if trace is not None:
                _write_trace(run.records(), trace)


def _checked(program: Path, size: int, arguments: Sequence[str], function: str | None) -> None:
    if not program.is_file():
        what = "is a folder" if program.is_dir() else "is not there"
        raise ValueError(f"{program} {what}: name a script (.py) or a notebook (.ipynb)")
    if program.suffix not in (".py", ".ipynb"):
        raise ValueError(f"{program} is neither a script (.py) nor a notebook (.ipynb)")
    if program.suffix == ".ipynb" and not function:
        raise ValueError(
            f"say by --function which function of {program.name} to run, as NAME(rank, size)"
        )
    if program.suffix != ".ipynb" and function:
        raise ValueError(f"--function is for notebooks: {program.name} runs as a whole")
    if function:
        notebook_function.need(program, function, arguments)
    ranks.check_size(size, "a program")


def _write_trace(found: list[events.RankRecord], path: Path) -> None:
    chrome_trace.write(found, path)
    print(f"trace in {path}: open it in ui.perfetto.dev or chrome://tracing")


class _Running:
    """The ranks of a program under way."""

    def __init__(
        self,
        source: starting.Source,
        folder: Path,
        program: Path,
        size: int,
        arguments: Sequence[str],
        function: str | None,
        port: int,
    ) -> None:
        self._source, self._folder, self._size = source, folder, size
        self._selector = selectors.DefaultSelector()
        self._left: dict[int, bytes] = {}
        self._pids: dict[int, int] = {}
        for rank in range(size):
            started, output = source.connect(
                entry_points.PROGRAM, program=str(program), arguments=arguments,
                function=function, rank=rank, size=size, port=port, folder=str(folder),
            )  # fmt: skip
            self._pids[rank] = started.pids()[0]
            self._left[rank] = b""
            self._selector.register(output, selectors.EVENT_READ, rank)

    def follow(self, timeout: float | None) -> int:
        """Print what ranks print until all have ended, the run is proven to hang, or the time is
        up. Returns the exit status.
        """
        deadline = time.monotonic() + timeout if timeout else float("inf")
        watch = Watcher()
        gone, failed = set[int](), set[int]()

        def look() -> list[events.RankRecord]:
            for key, _ in self._selector.select(LOOK):
                if self._ended(key) and self._status(key.data):
                    failed.add(key.data)
            gone.update(set(range(self._size)) - self._alive())
            return self.records()

        while self._selector.get_map():
            records = look()
            alive = self._alive()
            if alive and (finding := watch(records, gone)):
                finding = watch.settled(finding, gone, look)
                self._drain({record.rank for record in self.records() if record.ended})
                print(f"distlab: {finding.message} {finding.hint}", file=sys.stderr)
                return 1
            if alive and time.monotonic() > deadline:
                print(f"distlab: the run was ended after {timeout:g} s", file=sys.stderr)
                return 1
        for rank in sorted(failed):
            print(f"distlab: rank {rank} failed", file=sys.stderr)
        return 1 if failed else 0

    def _alive(self) -> set[int]:
        return {key.data for key in self._selector.get_map().values()}

    def stop(self) -> None:
        """Write into the records of ranks that are still running that they are ended now."""
        for key in self._selector.get_map().values():
            reading.stop(self._folder / f"{key.data}.rec", time.monotonic())

    def _drain(self, ended: set[int]) -> None:
        """Print what is still on its way: the record of a rank that raised says so before its
        traceback arrives.
        """
        end = time.monotonic() + GRACE
        while (ready := self._selector.select(LOOK)) or (
            time.monotonic() < end and ended & self._alive()
        ):
            for key, _ in ready:
                self._ended(key)

    def records(self) -> list[events.RankRecord]:
        found = []
        for rank in range(self._size):
            try:
                found.append(reading.read(self._folder / f"{rank}.rec"))
            except (OSError, ValueError):
                found.append(events.RankRecord(rank, self._size))
        return found

    def _ended(self, key: selectors.SelectorKey) -> bool:
        output, rank = key.fileobj, key.data
        assert isinstance(output, socket.socket)  # nothing else is registered
        data = output.recv(65536)
        *lines, self._left[rank] = (self._left[rank] + data).split(b"\n")
        if not data and self._left[rank]:
            lines.append(self._left[rank])
        for line in lines:
            # a progress bar returns the carriage without a new line: keep its last state
            text = line.decode("utf-8", "replace").rstrip("\r").rsplit("\r", 1)[-1]
            print(f"[rank {rank}] {text}", flush=True)
        if not data:
            self._selector.unregister(output)
            output.close()
        return not data

    def _status(self, rank: int) -> bool:
        """Did this rank, which has closed its output, fail?"""
        status = self._source.status(self._pids[rank])
        return status is None or status != 0


def serve(
    output: socket.socket,
    program: str,
    arguments: list[str],
    function: str | None,
    rank: int,
    size: int,
    port: int,
    folder: str,
) -> None:
    """One rank of a program: its environment, its recorder, then the program itself."""
    os.dup2(output.fileno(), 1)
    os.dup2(output.fileno(), 2)
    output.close()
    sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
    os.environ.update(
        RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(size), LOCAL_WORLD_SIZE=str(size),
        MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port),
    )  # fmt: skip
    os.environ.pop("OMP_NUM_THREADS", None)
    from distlab.rank import group_maker, own_modules, recorder

    record = recorder.Recorder(Path(folder) / f"{rank}.rec", rank, size)
    group_maker.install(record)
    record.started()
    raised = True
    try:
        try:
            if function is None:
                run_script(program, arguments)
            else:
                own_modules.find_beside(str(Path(program).resolve().parent))
                notebook_function.call(Path(program), function, rank, size)
            raised = False
        finally:
            record.ended(raised)
    except SystemExit:
        raise
    except BaseException as error:  # asyncio's CancelledError is no Exception
        notebook_function.print_error(error)
        raise SystemExit(1) from error


def run_script(program: str, arguments: list[str]) -> None:
    """Run a script as `python program arguments…` would, in this process."""
    sys.argv = [program, *arguments]
    sys.path.insert(0, str(Path(program).parent))
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as stop:
        if isinstance(stop.code, str):  # what a Python that ends would print
            print(stop.code, file=sys.stderr)
            raise SystemExit(1) from None
        if stop.code not in (None, 0):
            raise
