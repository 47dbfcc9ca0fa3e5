"""`tf_config_from_slurm`: the same, out of a Slurm job's variables."""

from __future__ import annotations

import bisect
import itertools
import re
from typing import Any

from distlab.course.lab08_tensorflow_strategies.addresses import (
    HINTS,
    TEXT,
    call,
    compared,
    workers,
)
from distlab.course.lab08_tensorflow_strategies.asked import with_tensorflow
from distlab.exercises.exercise import Case, Hint


def _job(case: Case) -> list[dict]:
    """The variables of one task of a Slurm job, as `srun` sets them."""
    tasks, nodes = case.params["tasks"], len(case.params["tasks"])
    rank, names = case.params["rank"], case.params["nodes"]
    told, ends = _told(tasks), [*itertools.accumulate(tasks)]
    node = bisect.bisect(ends, rank)
    env = {
        "SLURM_JOB_ID": str(1000 + case.number()), "SLURM_JOB_NODELIST": names,
        "SLURM_NODELIST": names,
        "SLURM_STEP_NODELIST": names, "SLURM_JOB_NUM_NODES": str(nodes),
        "SLURM_NNODES": str(nodes), "SLURM_STEP_NUM_NODES": str(nodes),
        "SLURM_NTASKS": str(sum(tasks)), "SLURM_NPROCS": str(sum(tasks)),
        "SLURM_STEP_NUM_TASKS": str(sum(tasks)), "SLURM_TASKS_PER_NODE": told,
        "SLURM_STEP_TASKS_PER_NODE": told, "SLURM_PROCID": str(rank),
        "SLURM_LOCALID": str(rank - ends[node] + tasks[node]), "SLURM_NODEID": str(node),
        "SLURM_CPUS_ON_NODE": "8", "SLURM_CLUSTER_NAME": "cluster",
    }  # fmt: skip
    return [{"env": env, "port": case.params["port"]}]


def _told(tasks: list[int]) -> str:
    """Slurm's way to write tasks for each node: [2, 2, 1] → "2(x2),1"."""
    groups = [(number, len([*nodes])) for number, nodes in itertools.groupby(tasks)]
    return ",".join(f"{number}(x{n})" if n > 1 else str(number) for number, n in groups)


OTHERWISE = "other workers where the nodes are written "
_BRACKETS = re.compile(r"\[[^\]]*\]")


def _call(function, rank: int, size: int, inputs: dict[str, Any]) -> dict[str, Any]:
    """Where the list has ranges, ask again with their numbers one by one, as Slurm writes numbers
    that do not follow each other. What comes of that is judged if it differs by leading zeros.
    """
    found = call(function, rank, size, inputs)
    nodes = inputs["env"]["SLURM_JOB_NODELIST"]
    alone = _one_by_one(nodes)
    if alone == nodes or found["returned"] != TEXT:
        return found
    env = {name: alone if value == nodes else value for name, value in inputs["env"].items()}
    try:
        again = call(function, rank, size, inputs | {"env": env})
    except Exception:  # what the case's own list gave is judged
        return found
    one, other = ([*map(_host, workers(config["cluster"]))] for config in (found, again))
    if not _alike_but_for_zeros(one, other):
        return found
    if _numbers(" ".join(_BRACKETS.findall(alone))) <= _numbers(" ".join(other)):
        return found  # the numbers are there as they are written
    return again | {"returned": OTHERWISE + alone}


def _one_by_one(nodes: str) -> str:
    """n[08-10] → n[08,09,10]"""

    def numbers(span: re.Match) -> str:
        first, last = span.groups()
        return ",".join(f"{i:0{len(first)}}" for i in range(int(first), int(last) + 1))

    return _BRACKETS.sub(lambda inside: re.sub(r"(\d+)-(\d+)", numbers, inside[0]), nodes)


def _numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+", text))


def _host(address: str) -> str:
    return address.rpartition(":")[0]


def _port(address: str) -> str:
    return address.rpartition(":")[2]


def _alike_but_for_zeros(one: list[str], other: list[str]) -> bool:
    """Do these hosts differ by leading zeros alone, as n08-ib and n8-ib do?"""
    bare = [[re.sub(r"(?<!\d)0+(?=\d)", "", host) for host in hosts] for hosts in (one, other)]
    return one != other and bare[0] == bare[1]


exercise = with_tensorflow(
    points=3,
    make=_job,
    call=_call,
    asks="tf_config_from_slurm returns the TF_CONFIG of this task out of a Slurm job's variables: "
    "one worker for each task, node by node, the tasks of a node on successive ports.",
    visible=(
        Case(1, 1, {"nodes": "n[1-2]", "tasks": [1, 1], "rank": 1, "port": 12345}),
        Case(1, 2, {"nodes": "gpu[08-10],login", "tasks": [2, 2, 2, 1], "rank": 3, "port": 20000}),
    ),
    hints=(
        Hint(
            "numbers alone",
            lambda look: str(look.returned[0]).startswith(OTHERWISE),
            "Slurm writes n[08-10] where numbers follow each other, and n[08,10] where they do "
            "not. A number that stands alone in the brackets keeps its width, too: n08 and n10.",
        ),
        *HINTS,
        Hint(
            "list not expanded",
            compared(lambda found, _: any("[" in host or "]" in host for host in found), _host),
            "A name with brackets stands for several nodes: n[1-3,7] is n1, n2, n3 and n7. Commas "
            "inside of brackets do not separate names.",
        ),
        Hint(
            "zeros lost",
            compared(_alike_but_for_zeros, _host),
            "Numbers in brackets are as wide as the first of their range, or wider: n[08-10] is "
            "n08, n09 and n10, and n[9-10] is n9 and n10.",
        ),
        Hint(
            "no port of its own",
            compared(lambda found, _: len(set(found)) < len(found)),
            "Two workers have the same address. Tasks on the same node need ports of their own: "
            "`port`, port + 1 and so on.",
        ),
        Hint(
            "nodes missing",
            compared(lambda found, asked: set(found) < set(asked), _host),
            "Nodes of the list have no worker. The last number of a range belongs to it, and what "
            "SLURM_TASKS_PER_NODE writes as 2(x3) is said of three nodes, 16(x12) of twelve.",
        ),
        Hint(
            "one worker a node",
            compared(lambda found, asked: len(found) < len(asked)),
            "There are fewer workers than tasks. SLURM_TASKS_PER_NODE says how many each node has: "
            "2(x3),1 is 2, 2, 2 and 1.",
        ),
        Hint(
            "too many workers",
            compared(lambda found, asked: len(found) > len(asked)),
            "There are more workers than tasks. Not every node need have equally many: 2(x3),1 is "
            "2, 2, 2 and 1.",
        ),
        Hint(
            "another order",
            compared(lambda found, asked: sorted(found) == sorted(asked) and found != asked),
            "The addresses are right, their order is not: Slurm numbers the tasks node by node, "
            "and worker i has to be the task whose SLURM_PROCID is i.",
        ),
        Hint(
            "other nodes",
            compared(lambda found, asked: set(found) != set(asked), _host),
            "These are not the nodes of the list. The last number of a range belongs to it, and "
            "what stands outside of brackets is part of every name.",
        ),
        Hint(
            "tasks of a node",
            compared(lambda found, asked: found != asked, _host),
            "The nodes have other numbers of tasks: the numbers in SLURM_TASKS_PER_NODE are in the "
            "order of the nodes.",
        ),
        Hint(
            "other ports",
            compared(lambda found, asked: found != asked, _port),
            "On each node the ports begin anew at `port`.",
        ),
        Hint(
            "another index",
            lambda look: look.differs("index"),
            "A task's index is SLURM_PROCID, its number in the whole job; SLURM_LOCALID and "
            "SLURM_NODEID count something else.",
        ),
    ),
)
