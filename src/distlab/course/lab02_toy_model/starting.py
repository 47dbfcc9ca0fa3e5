"""Lab 02: starting the ranks, by spawn and by what launchers leave in the environment."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from pathlib import Path

from distlab.course.lab02_toy_model.weights import LAB
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.raised import Advice

# run_demo


_DEMO = """
import os
import signal

import torch
import torch.distributed as dist

FOLDER, FAILS, PARENT, NUMBER = {folder!r}, {fails!r}, {parent!r}, {number!r}


def note(rank, text):
    with open(os.path.join(FOLDER, f"{{rank}}.txt"), "w") as file:
        file.write(f"{{os.getpid()}} {{text}}")


def demo(rank, world_size):
    if os.getpid() == PARENT:
        raise RuntimeError("demo_fn was called in the parent, not in a new process")
    signal.alarm(40)  # nothing is left behind, however run_demo ends
    if FAILS is not None:
        note(rank, f"the number {{NUMBER}}")
        if rank == FAILS:
            raise RuntimeError(f"rank {{rank}} was told to fail")
        return
    store = dist.FileStore(os.path.join(FOLDER, "store"), world_size)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=world_size)
    total = torch.tensor([NUMBER + rank])
    dist.all_reduce(total)
    dist.destroy_process_group()
    note(rank, f"rank {{rank}} of {{world_size}}, a sum of {{int(total)}}")
"""


def _demo_inputs(case: Case) -> list[dict]:
    return [
        {"world_size": case.get("world_size"), "script": case.get("script", False),
         "fails": case.get("fails"), "number": case.number()}
    ]  # fmt: skip


def _demo_in(folder: str, script: bool, fails: int | None, number: int):
    """The demo as a notebook's `__main__` would hold it, or as a module would."""
    import importlib

    source = _DEMO.format(folder=folder, fails=fails, parent=os.getpid(), number=number)
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
def _spawns_noted(log: list[str]):
    """Note each use of torch.multiprocessing.spawn, by whatever name it was imported."""
    import torch.multiprocessing  # noqa: F401

    module = sys.modules["torch.multiprocessing.spawn"]
    start = module.start_processes

    def start_processes(*args, **kwargs):
        log.append("torch.multiprocessing.spawn")
        return start(*args, **kwargs)

    module.start_processes = start_processes
    try:
        yield
    finally:
        module.start_processes = start


def _call_run_demo(function, rank, size, inputs):
    import multiprocessing

    folder = tempfile.mkdtemp(prefix="demo", dir=os.environ["DISTLAB_RUN"])
    fails, world_size = inputs["fails"], inputs["world_size"]
    demo = _demo_in(folder, inputs["script"], fails, inputs["number"])
    starts: list[str] = []
    returned, raised = None, False
    try:
        with _spawns_noted(starts):
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
    notes = [_note_of(folder, r) for r in range(world_size)]
    pids = {pid for pid, _ in notes} - {"", str(os.getpid())}
    found = {
        "returned": returned,
        "list of what started the processes": starts,
        "parent": "with an exception" if raised else "without an exception",
        "number of processes still running": len(running),
    }
    if fails is None:
        found |= {
            "notes of the ranks": [text for _, text in notes],
            "number of processes": len(pids),
        }
    else:
        found["note of the rank that fails"] = notes[fails][1]
    return found


def _note_of(folder: str, rank: int) -> tuple[str, str]:
    try:
        pid, _, text = Path(folder, f"{rank}.txt").read_text().partition(" ")
    except OSError:
        return "", "nothing"
    return pid, text


run_demo = Exercise(
    "run_demo",
    LAB,
    3,
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
            lambda look: look.got[0]["number of processes still running"] > 0,
            "run_demo returned while its processes were still running: whoever calls it can then "
            "know neither their results nor their failures.",
        ),
        Hint(
            "called here",
            lambda look: not look.got[0]["list of what started the processes"],
            "torch.multiprocessing.spawn was not called.",
        ),
        Hint(
            "failure swallowed",
            lambda look: (
                look.inputs[0]["fails"] is not None
                and look.got[0]["parent"] == "without an exception"
            ),
            "A rank raised and run_demo returned as if nothing had happened. Or that rank was "
            "never started: look at the number of processes.",
        ),
        Hint(
            "wrong number",
            lambda look: (
                look.got[0]["notes of the ranks"] != look.expected[0]["notes of the ranks"]
            ),
            "Not every rank ran as rank r of world_size: look at nprocs and at args. spawn "
            "passes the process's number first, by itself.",
        ),
    ),
    advice=(
        Advice(
            "not by name",
            "PicklingError|Can't pickle|Can't get attribute|cannot pickle",
            "A new process is sent a function by its name, and looks for it in a module that it "
            "can import. One that was defined in a notebook, or inside another function, has to be "
            "sent by value: the class ByValue above does that.",
        ),
        Advice(
            "called here",
            "called in the parent",
            "torch.multiprocessing.spawn calls demo_fn in each new process: hand the function over "
            "without calling it.",
        ),
        Advice(
            "wrong arguments",
            "ProcessRaisedException.*positional argument",
            "spawn calls its function with the process's number and then with what is in `args`: "
            "world_size belongs into `args`, and the rank does not.",
        ),
    ),
)


# world_from_env


_TORCHRUN = {"RANK": "5", "LOCAL_RANK": "1", "WORLD_SIZE": "8", "MASTER_PORT": "29400"}


_OPEN_MPI = {
    "OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_SIZE": "3",
}  # fmt: skip


_SLURM = {"SLURM_PROCID": "6", "SLURM_LOCALID": "2", "SLURM_NTASKS": "12", "SLURM_JOB_ID": "77"}


_NAME = re.compile(r"[A-Z][A-Z_]+")


#: what the visible cases ask: environments by name, and in which variables they are broken
_VISIBLE = {
    "one launcher, or none": ({"torchrun": _TORCHRUN, "nobody": {"HOME": "/home/ada"}}, {}),
    "other launchers": (
        {"Open MPI": _OPEN_MPI, "Slurm": _SLURM, "torchrun inside Slurm": _SLURM | _TORCHRUN}, {},
    ),
    "something broken": (
        {
            "a size that is missing": {"RANK": "0", "LOCAL_RANK": "0"},
            "a rank that is no integer": {"RANK": "one", "LOCAL_RANK": "0", "WORLD_SIZE": "2"},
        },
        {"a size that is missing": ["WORLD_SIZE"], "a rank that is no integer": ["RANK"]},
    ),
}  # fmt: skip


def _environments(case: Case) -> list[dict]:
    environments, bad = _VISIBLE.get(case.get("with"), ({}, {}))
    return [{"environments": case.get("environments", environments), "bad": case.get("bad", bad)}]


def _call_world_from_env(function, rank, size, inputs):
    returned = {}
    for name, environment in inputs["environments"].items():
        bad = set(inputs["bad"].get(name, ()))
        try:
            returned[name] = function(dict(environment))
        except NotImplementedError:
            raise
        except ValueError as error:
            named = bad & set(_NAME.findall(str(error)))
            returned[name] = (
                f"ValueError that names {'the variable' if named else 'no bad variable'}"
            )
        except Exception as error:
            returned[name] = f"{type(error).__name__}: {error}"
    return {"returned": returned}


def _answers(look: Look) -> dict:
    """The wrong ones, by name."""
    expected = look.expected[0]["returned"]
    got = look.got[0]["returned"]
    return {name: answer for name, answer in got.items() if not look.same(expected[name], answer)}


world_from_env = Exercise(
    "world_from_env",
    LAB,
    3,
    make=_environments,
    call=_call_world_from_env,
    group=False,
    asks="world_from_env reads (rank, local_rank, world_size) as integers from the variables of "
    "torchrun, else of Open MPI, else of Slurm, gives (0, 0, 1) without any, and raises a "
    "ValueError that names a variable which is missing or no integer.",
    visible=tuple(Case(1, number, {"with": name}) for number, name in enumerate(_VISIBLE, 1)),
    hints=(
        Hint(
            "job before launcher",
            lambda look: any("inside" in name for name in _answers(look)),
            "A launcher inside a job leaves two families of variables. The launcher started this "
            "process, the job only gave it the machine: ask torchrun first, then Open MPI, then "
            "Slurm.",
        ),
        Hint(
            "text for numbers",
            lambda look: any(
                isinstance(part, str)
                for got in _answers(look).values()
                if isinstance(got, (tuple, list))
                for part in got
            ),
            "What stands in an environment is text: turn it into integers.",
        ),
        Hint(
            "KeyError",
            lambda look: any(str(got).startswith("KeyError") for got in _answers(look).values()),
            "A missing variable raises KeyError in a dictionary. Asked for is a ValueError whose "
            "message names the variable, which is what somebody can fix at 2 a.m.",
        ),
        Hint(
            "variable not named",
            lambda look: any("no bad variable" in str(got) for got in _answers(look).values()),
            "The ValueError does not say which variable is wrong: int() knows the text alone. "
            "Catch it and raise one that names the variable.",
        ),
        Hint(
            "nothing started",
            lambda look: any(
                list(look.expected[0]["returned"][name]) == [0, 0, 1] for name in _answers(look)
            ),
            "Without any launcher's rank variable a program is one process: (0, 0, 1).",
        ),
        Hint(
            "a default for what is missing",
            lambda look: any(
                str(look.expected[0]["returned"][name]).startswith("ValueError")
                and isinstance(got, (tuple, list))
                for name, got in _answers(look).items()
            ),
            "A family is there when its rank variable is. A missing or broken one of that family "
            "is an error to report, not one to guess over: a wrong size hangs the job an hour "
            "later.",
        ),
    ),
)
