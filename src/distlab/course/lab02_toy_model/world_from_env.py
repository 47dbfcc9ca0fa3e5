"""`world_from_env`: who a rank is, by what launchers leave in the environment."""

from __future__ import annotations

import re

from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.numpy_ints import as_plain
from distlab.exercises.raised import Advice

_TORCHRUN = {"RANK": "5", "LOCAL_RANK": "1", "WORLD_SIZE": "8", "MASTER_PORT": "29400"}
_OPEN_MPI = {
    "OMPI_COMM_WORLD_RANK": "2",
    "OMPI_COMM_WORLD_LOCAL_RANK": "0",
    "OMPI_COMM_WORLD_SIZE": "3",
}
_SLURM = {"SLURM_PROCID": "6", "SLURM_LOCALID": "2", "SLURM_NTASKS": "12", "SLURM_JOB_ID": "77"}
_ALSO_TASKS = ("SLURM_NPROCS", "SLURM_STEP_NUM_TASKS")

_NAME = re.compile(r"[A-Z][A-Z_]+")
_NAMED, _NO_ERROR = "ValueError that names the variable", " and no ValueError"

#: what the visible cases ask: environments by name, and in which variables they are broken
_VISIBLE = {
    "one launcher, or none": ({"torchrun": _TORCHRUN, "nobody": {"HOME": "/home/ada"}}, {}),
    "other launchers": (
        {"Open MPI": _OPEN_MPI, "Slurm": _SLURM, "torchrun inside Slurm": _SLURM | _TORCHRUN},
        {},
    ),
    "something broken": (
        {
            "a size that is missing": {"RANK": "0", "LOCAL_RANK": "0"},
            "a rank that is no integer": {"RANK": "one", "LOCAL_RANK": "0", "WORLD_SIZE": "2"},
        },
        {"a size that is missing": ["WORLD_SIZE"], "a rank that is no integer": ["RANK"]},
    ),
}


def _environments(case: Case) -> list[dict]:
    """`bad`: the broken variables of an environment, one of which a ValueError has to name; `or`:
    what is as right as that, where the contract can be read in two ways.
    """
    environments, bad = _VISIBLE.get(case.get("with"), ({}, {}))
    given = {"environments": case.get("environments", environments), "bad": case.get("bad", bad)}
    return [given | {"or": case.params["or"]} if "or" in case.params else given]


def _as_srun_leaves(environment: dict) -> dict:
    """A copy in which the number of Slurm's tasks has all three names that srun gives it."""
    tasks = environment.get("SLURM_NTASKS")
    also = {} if tasks is None else dict.fromkeys(_ALSO_TASKS, tasks)
    return also | environment


def _call_world_from_env(function, rank, size, inputs):
    returned = {}
    for name, environment in inputs["environments"].items():
        bad = set(inputs["bad"].get(name, ()))
        try:
            answer = as_plain(function(_as_srun_leaves(environment)))
            also = inputs.get("or", {}).get(name)
            if also and isinstance(answer, (tuple, list)) and [*answer] == also:
                returned[name] = _NAMED
            else:
                returned[name] = f"{answer!r}{_NO_ERROR}" if bad else answer
        except ValueError as error:
            if not bad:
                raise
            named = bad & set(_NAME.findall(str(error)))
            returned[name] = _NAMED if named else "ValueError that names no bad variable"
    return {"returned": returned}


def _wrong(look: Look) -> dict[str, tuple]:
    """(asked for, returned) of the wrong answers, by the name of their environment."""
    asked = look.wanted[0]
    pairs = {name: (asked[name], answer) for name, answer in look.returned[0].items()}
    return {name: pair for name, pair in pairs.items() if not look.same(*pair)}


exercise = Exercise(
    points=3,
    make=_environments,
    tuples=0,
    call=_call_world_from_env,
    group=False,
    asks="world_from_env reads (rank, local_rank, world_size) as integers from the variables of "
    "torchrun, else of Open MPI, else of Slurm, gives (0, 0, 1) without any, and raises a "
    "ValueError that names a variable which is missing or no integer.",
    visible=tuple(Case(1, number, {"with": name}) for number, name in enumerate(_VISIBLE, 1)),
    hints=(
        Hint(
            "no three numbers",
            lambda look: any(
                not (isinstance(got, (tuple, list)) and len(got) == 3)
                for want, got in _wrong(look).values()
                if want != _NAMED and list(want) != [0, 0, 1]
            ),
            "Three numbers are asked for, in this order: rank, local rank, world size.",
        ),
        Hint(
            "job before launcher",
            lambda look: any("inside" in name for name in _wrong(look)),
            "A launcher inside a job leaves two families of variables. The launcher started this "
            "process, the job only gave it the machine: ask torchrun first, then Open MPI, then "
            "Slurm.",
        ),
        Hint(
            "text for numbers",
            lambda look: any(
                isinstance(got, (tuple, list)) and any(isinstance(part, str) for part in got)
                for _, got in _wrong(look).values()
            ),
            "What stands in an environment is text: turn it into integers.",
        ),
        Hint(
            "variable not named",
            lambda look: any("no bad variable" in str(got) for _, got in _wrong(look).values()),
            "The ValueError does not say which variable is wrong: int() knows the text alone. "
            "Catch it and raise one that names the variable.",
        ),
        Hint(
            "nothing started",
            lambda look: any(list(want) == [0, 0, 1] for want, _ in _wrong(look).values()),
            "Without any launcher's rank variable a program is one process: (0, 0, 1).",
        ),
        Hint(
            "a default for what is missing",
            lambda look: any(str(got).endswith(_NO_ERROR) for _, got in _wrong(look).values()),
            "A family is there when its rank variable is. A missing or broken one of that family "
            "is an error to report, not one to guess over: a wrong size hangs the job an hour "
            "later.",
        ),
    ),
    advice=(
        Advice(
            "KeyError",
            "KeyError",
            "A missing variable raises KeyError in a dictionary. Where no launcher has left its "
            "rank variable the answer is (0, 0, 1). Where a family's is there and another of it is "
            "missing, a ValueError is asked for whose message names that one, which is what "
            "somebody can fix at 2 a.m.",
        ),
        Advice(
            "nothing there",
            "NoneType",
            "env.get gives None where a variable is missing: ask whether it is there before you "
            "make a number of it.",
        ),
    ),
)
