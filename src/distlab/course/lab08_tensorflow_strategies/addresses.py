"""Lab 08: TF_CONFIG, by which a process learns who the others are and which one it is."""

from __future__ import annotations

import json
from typing import Any

from distlab.course.lab08_tensorflow_strategies import strategies
from distlab.course.lab08_tensorflow_strategies.asked import NOTHING, exercise
from distlab.exercises.exercise import Case, Hint, Look

TEXT = "TF_CONFIG as JSON"
NO_JSON = "a text that is no JSON"
OTHER_JSON = 'JSON without "cluster" and "task"'


def _seen(text: Any) -> Any:
    """What TensorFlow reads out of a `TF_CONFIG`; the value itself where it is no text."""
    import os

    import tensorflow as tf

    nothing = {"cluster": None, "type": None, "index": None}
    if not isinstance(text, str):
        return {"returned": text, **nothing}
    try:
        found = json.loads(text)
    except ValueError:
        return {"returned": NO_JSON, **nothing}
    if not isinstance(found, dict) or not {"cluster", "task"} <= set(found):
        return {"returned": OTHER_JSON, **nothing}
    os.environ["TF_CONFIG"] = text
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    return {
        "returned": TEXT,
        "cluster": resolver.cluster_spec().as_dict(),
        "type": resolver.task_type, "index": resolver.task_id,
    }  # fmt: skip


def _call(function, rank: int, size: int, inputs: dict[str, Any]) -> dict[str, Any]:
    return strategies.run(lambda: _seen(function(*inputs.values())))


def _got(look: Look, name: str) -> Any:
    return look.got[0].get(name)


def _workers(look: Look) -> list[str]:
    return list((_got(look, "cluster") or {}).get("worker", []))


def _addresses(look: Look) -> list[str]:
    return look.expected[0]["cluster"]["worker"]


_TEXT = (
    NOTHING,
    Hint(
        "dictionary for text",
        lambda look: isinstance(_got(look, "returned"), dict),
        "Environment variables hold text: json.dumps makes one of the dictionary.",
    ),
    Hint(
        "no JSON",
        lambda look: _got(look, "returned") == NO_JSON,
        "The text is no JSON. str() of a dictionary has single quotes, which JSON does not know: "
        "use json.dumps.",
    ),
    Hint(
        "other keys",
        lambda look: _got(look, "returned") == OTHER_JSON,
        "TF_CONFIG has two keys, \"cluster\" and \"task\".",
    ),
    Hint(
        "another job",
        lambda look: set(_got(look, "cluster") or {}) != {"worker"},
        "All of them are workers: the cluster has the one job \"worker\", with a list of "
        "addresses.",
    ),
    Hint(
        "another type",
        lambda look: _got(look, "type") != "worker",
        "The task has \"type\" and \"index\"; its type is \"worker\".",
    ),
)  # fmt: skip


def _workers_given(case: Case) -> list[dict]:
    return [{"workers": list(case.params["workers"]), "index": case.params["index"]}]


tf_config = exercise(
    "tf_config", 1,
    make=_workers_given,
    call=_call,
    asks="tf_config returns the JSON text that tells worker `index` who all workers are and which "
    "of them it is.",
    visible=(
        Case(1, 1, {"workers": ["n1:2222", "n2:2222"], "index": 1}),
        Case(1, 2, {"workers": ["10.0.0.7:5000", "10.0.0.7:5001", "10.0.0.9:5000"], "index": 0}),
    ),
    hints=(
        *_TEXT,
        Hint(
            "one address",
            lambda look: len(_workers(look)) < len(_addresses(look)),
            "Some workers are missing: every worker has to know all addresses, its own included.",
        ),
        Hint(
            "other addresses",
            lambda look: _workers(look) != _addresses(look),
            "The addresses have to stand there as they were given and in the same order on every "
            "worker: a worker's index is its place in that list.",
        ),
        Hint(
            "another index",
            lambda look: _got(look, "index") != look.expected[0]["index"],
            "The index in \"task\" is this worker's own, counted from 0.",
        ),
    ),
)  # fmt: skip


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


def _hosts(addresses: list[str]) -> list[str]:
    return [address.rpartition(":")[0] for address in addresses]


def _ports(addresses: list[str]) -> list[str]:
    return [address.rpartition(":")[2] for address in addresses]


tf_config_from_slurm = exercise(
    "tf_config_from_slurm", 3,
    make=_job,
    call=_call,
    asks="tf_config_from_slurm returns the TF_CONFIG of this task out of a Slurm job's variables: "
    "one worker for each task, node by node, the tasks of a node on successive ports.",
    visible=(
        _slurm("n[1-2]", [1, 1], rank=1, port=12345, seed=1),
        _slurm("gpu[08-10],login", [2, 2, 2, 1], rank=3, port=20000, seed=2),
    ),
    hints=(
        *_TEXT,
        Hint(
            "list not expanded",
            lambda look: any("[" in host or "]" in host for host in _hosts(_workers(look))),
            "A name with brackets stands for several nodes: n[1-3,7] is n1, n2, n3 and n7. Commas "
            "inside of brackets do not separate names.",
        ),
        Hint(
            "zeros lost",
            lambda look: _hosts(_workers(look)) != _hosts(_addresses(look))
            and [_bare(h) for h in _hosts(_workers(look))]
            == [_bare(h) for h in _hosts(_addresses(look))],
            "Numbers in brackets keep their width: n[08-10] is n08, n09 and n10.",
        ),
        Hint(
            "no port of its own",
            lambda look: len(set(_workers(look))) < len(_workers(look)),
            "Two workers have the same address. Tasks on the same node need ports of their own: "
            "`port`, port + 1 and so on.",
        ),
        Hint(
            "one worker a node",
            lambda look: len(_workers(look)) < len(_addresses(look)),
            "There are fewer workers than tasks. SLURM_TASKS_PER_NODE says how many each node has: "
            "2(x3),1 is 2, 2, 2 and 1.",
        ),
        Hint(
            "too many workers",
            lambda look: len(_workers(look)) > len(_addresses(look)),
            "There are more workers than tasks. Not every node need have equally many: 2(x3),1 is "
            "2, 2, 2 and 1.",
        ),
        Hint(
            "another order",
            lambda look: sorted(_workers(look)) == sorted(_addresses(look))
            and _workers(look) != _addresses(look),
            "The addresses are right, their order is not: Slurm numbers the tasks node by node, "
            "and worker i has to be the task whose SLURM_PROCID is i.",
        ),
        Hint(
            "other nodes",
            lambda look: set(_hosts(_workers(look))) != set(_hosts(_addresses(look))),
            "These are not the nodes of the list. The last number of a range belongs to it, and "
            "what stands outside of brackets is part of every name.",
        ),
        Hint(
            "tasks of a node",
            lambda look: _hosts(_workers(look)) != _hosts(_addresses(look)),
            "The nodes have other numbers of tasks: the numbers in SLURM_TASKS_PER_NODE are in the "
            "order of the nodes.",
        ),
        Hint(
            "other ports",
            lambda look: _ports(_workers(look)) != _ports(_addresses(look)),
            "On each node the ports begin anew at `port`.",
        ),
        Hint(
            "another index",
            lambda look: _got(look, "index") != look.expected[0]["index"],
            "A task's index is SLURM_PROCID, its number in the whole job; SLURM_LOCALID and "
            "SLURM_NODEID count something else.",
        ),
    ),
)  # fmt: skip


def _bare(host: str) -> str:
    """A host's name with its number as a number: n08 and n8 are the same."""
    stem = host.rstrip("0123456789")
    return f"{stem}{int(host[len(stem) :] or 0)}"


EXERCISES = (tf_config, tf_config_from_slurm)
