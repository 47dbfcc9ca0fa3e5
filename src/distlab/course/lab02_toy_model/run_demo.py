"""`run_demo`: starting the ranks by spawn."""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from distlab.exercises.exercise import Case, Exercise, Hint
from distlab.exercises.raised import Advice

_LONGER = 0.5  # seconds that the last rank goes on when the others have ended
_MOST = 5.0  # seconds that it waits for their end: who starts them may join it first

_DEMO = """
import os
import signal
import sys
import time

import torch
import torch.distributed as dist

FOLDER, FAILS, PARENT, NUMBER = {folder!r}, {fails!r}, {parent!r}, {number!r}


def note(rank, text):
    with open(os.path.join(FOLDER, f"{{rank}}.txt"), "w") as file:
        file.write(f"{{os.getpid()}} {{text}}")


def there(pid):
    try:
        os.kill(pid, 0)
        with open(f"/proc/{{pid}}/stat") as file:  # one that nobody has joined yet is there, too
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return sys.platform != "linux"
    except OSError:
        return False


def stay(others):
    # the last to end, some time after the others: who waits for one process alone returns by then
    latest = time.monotonic() + {most}
    while time.monotonic() < latest and any(map(there, others)):
        time.sleep(0.01)
    time.sleep({longer})


def demo(rank, world_size):
    if os.getpid() == PARENT:
        raise RuntimeError("demo_fn was called in the parent, not in a new process")
    signal.alarm(40)  # nothing is left behind, however run_demo ends
    if FAILS is not None:
        note(rank, f"rank {{rank}} of {{world_size}}, the number {{NUMBER}}")
        if rank == FAILS:
            raise RuntimeError(f"rank {{rank}} was told to fail")
        return
    store = dist.FileStore(os.path.join(FOLDER, "store"), world_size)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=world_size)
    total = torch.tensor([NUMBER + rank])
    dist.all_reduce(total)
    processes = torch.zeros(world_size, dtype=torch.int64)
    processes[rank] = os.getpid()
    dist.all_reduce(processes)
    dist.destroy_process_group()
    if rank == world_size - 1:
        stay(processes[:-1].tolist())
    note(rank, f"rank {{rank}} of {{world_size}}, a sum of {{int(total)}}")
"""


def _demo_inputs(case: Case) -> list[dict]:
    told = {"world_size": None, "script": False, "fails": None, "number": case.number()}
    return [told | dict(case.params)]


def _demo_in(folder: str, script: bool, fails: int | None, number: int):
    """The demo as a notebook's `__main__` would hold it, or as a module would."""
    import importlib

    source = _DEMO.format(
        folder=folder, fails=fails, parent=os.getpid(), number=number, most=_MOST, longer=_LONGER
    )
    if not script:
        namespace = {"__name__": "__main__"}
        exec(compile(source, "<demo>", "exec"), namespace)
        return namespace["demo"]
    name = f"demo_script_{os.path.basename(folder)}"
    Path(folder, f"{name}.py").write_text(source, "utf-8")
    sys.path.insert(0, folder)
    importlib.invalidate_caches()
    return importlib.import_module(name).demo


@contextlib.contextmanager
def _spawns_noted(function, log: list[str], asked: int | None):
    """Note each use of torch.multiprocessing.spawn, by whatever name it was imported, and of
    torch.multiprocessing.start_processes where that is told to spawn: it is all that spawn calls.

    Args:
        function: whose global names are looked through, too.
        asked: how many processes it has to be told to start, `None` for any number. With another
            number it raises at once: too few of them would wait for the others until they are
            killed, and nobody could see what for.
    """
    import torch.multiprocessing

    start = torch.multiprocessing.start_processes
    # the name torch.multiprocessing.spawn is the function's
    modules = torch.multiprocessing, sys.modules["torch.multiprocessing.spawn"]
    names: list[dict[str, Any]] = [*map(vars, modules), getattr(function, "__globals__", {})]
    places = [(held, name) for held in names for name, value in held.items() if value is start]
    signature = inspect.signature(start)

    def start_processes(*args, **kwargs):
        told = signature.bind(*args, **kwargs)
        told.apply_defaults()
        if told.arguments["start_method"] == "spawn":
            log.append("torch.multiprocessing.spawn")
        if asked not in (None, told.arguments["nprocs"]):
            raise ValueError(f"spawn was told nprocs={told.arguments['nprocs']}, not {asked}")
        return start(*args, **kwargs)

    for held, name in places:
        held[name] = start_processes
    try:
        yield
    finally:
        for held, name in places:
            held[name] = start


def _call_run_demo(function, rank, size, inputs):
    import multiprocessing

    folder = tempfile.mkdtemp(prefix="demo", dir=os.environ["DISTLAB_RUN"])
    fails, world_size = inputs["fails"], inputs["world_size"]
    demo = _demo_in(folder, inputs["script"], fails, inputs["number"])
    starts: list[str] = []
    returned, raised = None, False
    try:
        with _spawns_noted(function, starts, world_size if fails is None else None):
            returned = function(demo, world_size)
    except NotImplementedError:
        raise
    except Exception:
        if fails is None:
            raise
        raised = True
    finally:
        running = multiprocessing.active_children()
        for process in running:
            process.kill()
        if folder in sys.path:
            sys.path.remove(folder)
    lasting = range(world_size) if fails is None else [fails]  # the others may be ended first
    notes = [_note_of(folder, rank) for rank in lasting]
    return {
        "returned": returned,
        "list of what started the processes": starts,
        "parent": "with an exception" if raised else "without an exception",
        "number of processes still running": len(running),
        "notes of the ranks": [text for _, text in notes],
        "number of processes": len({pid for pid, _ in notes} - {"", str(os.getpid())}),
    }


def _note_of(folder: str, rank: int) -> tuple[str, str]:
    """Its process, and what it says."""
    path = Path(folder, f"{rank}.txt")
    pid, _, text = path.read_text().partition(" ") if path.exists() else ("", "", "nothing")
    return pid, text


exercise = Exercise(
    points=3,
    make=_demo_inputs,
    call=_call_run_demo,
    group=False,
    asks="run_demo starts world_size processes with torch.multiprocessing.spawn, in each of which "
    "demo_fn(rank, world_size) runs, waits for them, returns None, and raises when a rank raised.",
    visible=(Case(1, 1, {"world_size": 2}),),
    deadline=60.0,  # each spawned process imports torch anew, which takes seconds
    hints=(
        Hint(
            "not waited for",
            lambda look: look.left("number of processes still running")[0] > 0,
            "run_demo returned while its processes were still running: whoever calls it can then "
            "know neither their results nor their failures.",
        ),
        Hint(
            "called here",
            lambda look: not look.left("list of what started the processes")[0],
            "torch.multiprocessing.spawn was not called.",
        ),
        Hint(
            "failure swallowed",
            lambda look: look.differs("parent"),
            "A rank raised and run_demo returned as if nothing had happened. Or that rank was "
            "never started: look at the number of processes.",
        ),
        Hint(
            "wrong number",
            lambda look: look.differs("notes of the ranks"),
            "Not every rank ran as rank r of world_size: look at nprocs and at args. spawn "
            "passes the process's number first, by itself.",
        ),
    ),
    advice=(
        Advice(
            "not by name",
            "PicklingError|Can't pickle|Can't get (attribute|local object)|cannot pickle",
            "A new process is sent a function by its name, and looks for it in a module that it "
            "can import. One that was defined in a notebook, or inside another function, has to be "
            "sent by value: the class ByValue above does that.",
        ),
        Advice(
            "not spawned",
            "'ByValue' object is not callable",
            "A ByValue becomes the function where it is unpickled, and that is in a process that "
            "torch.multiprocessing.spawn has started. A forked process, and this one, have it as "
            "it is.",
        ),
        Advice(
            "called here",
            "called in the parent",
            "torch.multiprocessing.spawn calls demo_fn in each new process: hand the function over "
            "without calling it.",
        ),
        Advice(
            "wrong number",
            "spawn was told nprocs=",
            "spawn starts as many processes as `nprocs` says, and one if it says nothing: "
            "world_size of them are to meet in demo_fn, and each waits for all.",
        ),
        Advice(
            "wrong number",
            "rank < size",
            "demo_fn was told a rank that there is not: ranks begin with 0, and demo_fn takes rank "
            "and world_size in this order. spawn passes the process's number first, by itself, and "
            "then what is in `args`.",
        ),
        Advice(
            "set up here",
            "initialize the default process group twice",
            "demo_fn sets up its own process group: run_demo starts the processes and leaves the "
            "rest to it.",
        ),
        Advice(
            "args no tuple",
            r"argument after \* must be an iterable|Value after \* must be an iterable",
            "`args` is a tuple, of one item here. (world_size) in parentheses is a plain number: "
            "the comma makes the tuple, (world_size,).",
        ),
        Advice(
            "wrong arguments",
            "ProcessRaisedException.*positional argument",
            "spawn calls its function with the process's number and then with what is in `args`: "
            "world_size belongs into `args`, and the rank does not.",
        ),
    ),
)
