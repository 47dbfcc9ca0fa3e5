"""`tf_config_from_slurm`: the same, out of a Slurm job's variables."""

from __future__ import annotations

import re
from typing import Any

from distlab.course.lab08_tensorflow_strategies.addresses import (
    HINTS,
    TEXT,
    addresses,
    call,
    got,
    workers,
)
from distlab.course.lab08_tensorflow_strategies.asked import with_tensorflow
from distlab.exercises.exercise import Case, Hint


def _job(case: Case) -> list[dict]:
    """The variables of one task of a Slurm job, as `srun` sets them."""
    tasks, nodes = case.params["tasks"], len(case.params["tasks"])
    rank, names = case.params["rank"], case.params["nodes"]
    told, ends = _told(tasks), [sum(tasks[: i + 1]) for i in range(nodes)]
    node = next(i for i, end in enumerate(ends) if rank < end)
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
    parts, begin = [], 0
    for i in range(1, len(tasks) + 1):
        if i == len(tasks) or tasks[i] != tasks[begin]:
            parts.append(str(tasks[begin]) + (f"(x{i - begin})" if i - begin > 1 else ""))
            begin = i
    return ",".join(parts)


def _slurm(nodes: str, tasks: list[int], rank: int, port: int, seed: int) -> Case:
    return Case(1, seed, {"nodes": nodes, "tasks": tasks, "rank": rank, "port": port})


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
    one, other = _named(found), _named(again)
    if one == other or [_bare(host) for host in one] != [_bare(host) for host in other]:
        return found
    if _numbers(" ".join(_BRACKETS.findall(alone))) <= _numbers(" ".join(other)):
        return found  # the numbers are there as they are written
    return again | {"returned": OTHERWISE + alone}


def _named(found: dict[str, Any]) -> list[str]:
    """The hosts of the workers in a TF_CONFIG, as it was read."""
    return _hosts((found["cluster"] or {}).get("worker", []))


def _one_by_one(nodes: str) -> str:
    """n[08-10] → n[08,09,10]"""

    def numbers(span: re.Match) -> str:
        first, last = span.groups()
        return ",".join(f"{i:0{len(first)}}" for i in range(int(first), int(last) + 1))

    return _BRACKETS.sub(lambda inside: re.sub(r"(\d+)-(\d+)", numbers, inside[0]), nodes)


def _numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+", text))


def _hosts(addresses: list[str]) -> list[str]:
    return [address.rpartition(":")[0] for address in addresses]


def _ports(addresses: list[str]) -> list[str]:
    return [address.rpartition(":")[2] for address in addresses]


exercise = with_tensorflow(
    points=3,
    make=_job,
    call=_call,
    asks="tf_config_from_slurm returns the TF_CONFIG of this task out of a Slurm job's variables: "
    "one worker for each task, node by node, the tasks of a node on successive ports.",
    visible=(
        _slurm("n[1-2]", [1, 1], rank=1, port=12345, seed=1),
        _slurm("gpu[08-10],login", [2, 2, 2, 1], rank=3, port=20000, seed=2),
    ),
    hints=(
        Hint(
            "numbers alone",
            lambda look: str(look.got[0].get("returned")).startswith(OTHERWISE),
            "Slurm writes n[08-10] where numbers follow each other, and n[08,10] where they do "
            "not. A number that stands alone in the brackets keeps its width, too: n08 and n10.",
        ),
        *HINTS,
        Hint(
            "list not expanded",
            lambda look: any("[" in host or "]" in host for host in _hosts(workers(look))),
            "A name with brackets stands for several nodes: n[1-3,7] is n1, n2, n3 and n7. Commas "
            "inside of brackets do not separate names.",
        ),
        Hint(
            "zeros lost",
            lambda look: (
                _hosts(workers(look)) != _hosts(addresses(look))
                and [_bare(h) for h in _hosts(workers(look))]
                == [_bare(h) for h in _hosts(addresses(look))]
            ),
            "Numbers in brackets are as wide as the first of their range, or wider: n[08-10] is "
            "n08, n09 and n10, and n[9-10] is n9 and n10.",
        ),
        Hint(
            "no port of its own",
            lambda look: len(set(workers(look))) < len(workers(look)),
            "Two workers have the same address. Tasks on the same node need ports of their own: "
            "`port`, port + 1 and so on.",
        ),
        Hint(
            "nodes missing",
            lambda look: set(_hosts(workers(look))) < set(_hosts(addresses(look))),
            "Nodes of the list have no worker. The last number of a range belongs to it, and what "
            "SLURM_TASKS_PER_NODE writes as 2(x3) is said of three nodes, 16(x12) of twelve.",
        ),
        Hint(
            "one worker a node",
            lambda look: len(workers(look)) < len(addresses(look)),
            "There are fewer workers than tasks. SLURM_TASKS_PER_NODE says how many each node has: "
            "2(x3),1 is 2, 2, 2 and 1.",
        ),
        Hint(
            "too many workers",
            lambda look: len(workers(look)) > len(addresses(look)),
            "There are more workers than tasks. Not every node need have equally many: 2(x3),1 is "
            "2, 2, 2 and 1.",
        ),
        Hint(
            "another order",
            lambda look: (
                sorted(workers(look)) == sorted(addresses(look))
                and workers(look) != addresses(look)
            ),
            "The addresses are right, their order is not: Slurm numbers the tasks node by node, "
            "and worker i has to be the task whose SLURM_PROCID is i.",
        ),
        Hint(
            "other nodes",
            lambda look: set(_hosts(workers(look))) != set(_hosts(addresses(look))),
            "These are not the nodes of the list. The last number of a range belongs to it, and "
            "what stands outside of brackets is part of every name.",
        ),
        Hint(
            "tasks of a node",
            lambda look: _hosts(workers(look)) != _hosts(addresses(look)),
            "The nodes have other numbers of tasks: the numbers in SLURM_TASKS_PER_NODE are in the "
            "order of the nodes.",
        ),
        Hint(
            "other ports",
            lambda look: _ports(workers(look)) != _ports(addresses(look)),
            "On each node the ports begin anew at `port`.",
        ),
        Hint(
            "another index",
            lambda look: got(look, "index") != look.expected[0]["index"],
            "A task's index is SLURM_PROCID, its number in the whole job; SLURM_LOCALID and "
            "SLURM_NODEID count something else.",
        ),
    ),
)


def _bare(host: str) -> str:
    """A host's name without leading zeros: n08-ib and n8-ib are the same."""
    return re.sub(r"(?<!\d)0+(?=\d)", "", host)
