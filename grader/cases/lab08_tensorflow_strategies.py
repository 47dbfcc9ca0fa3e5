"""Hidden cases of lab 08.

Other devices in another order; every form of Slurm's lists; one replica and four, the same shapes
twice; a worker that is killed, each of the two.
"""

from distlab.exercises.exercise import Case
from grader.cases import Drawn


def _over(seed, logical, *devices):
    return Case(1, seed, {"logical": logical, "devices": list(devices)})


def _workers(seed, index, *workers):
    return Case(1, seed, {"workers": list(workers), "index": index})


def _cluster(seed, count):
    """Some workers, each on a node and a port of its own, in no order."""

    def params(chance):
        nodes = chance.order(range(10, 10 + count))
        port, index = chance.whole(20_000, 30_000), chance.whole(1, count - 1)
        return {"workers": [f"node{n}.cluster.example:{port + n}" for n in nodes], "index": index}

    return Drawn(1, seed, params)


def _job(seed, nodes, tasks, rank):
    return Drawn(1, seed, lambda chance: {
        "nodes": nodes, "tasks": tasks, "rank": rank, "port": chance.whole(2_000, 40_000)
    })  # fmt: skip


def _training(seed, strategy, devices=2, size=1, batches=3, batch=16, epochs=2):
    about = {"batches": batches, "batch": batch, "epochs": epochs}
    return Case(size, seed, {"strategy": strategy, "devices": devices, **about})


_DEVICES = (
    _over(101, 1, "CPU:0"),
    _over(102, 4, "/cpu:3", "/cpu:1", "/cpu:2"),
    _over(103, 5, "/device:CPU:0", "/device:CPU:1", "/device:CPU:2", "/device:CPU:3"),
)
HIDDEN = {
    "mirrored": _DEVICES,
    "central_storage": _DEVICES,
    "tf_config": (
        _workers(101, 0, "localhost:1"),
        _cluster(102, 5),
        _workers(103, 2, "b:2222", "a:2222", "c:2222"),
    ),
    "tf_config_from_slurm": (
        _job(101, "node7", [1], 0),
        _job(102, "node7", [3], 2),
        _job(103, "n[1-3,7,10-11]", [1, 1, 1, 1, 1, 1], 4),
        _job(104, "c[098-101]", [4, 2, 2, 1], 6),
        _job(105, "big,r1n[1,3]-ib,r2n[01-02]", [1, 2, 1, 3, 3], 5),
        _job(106, "a,b,c", [2, 1, 2], 2),
    ),
    "train": (
        _training(101, "one replica", devices=1),
        _training(102, "mirrored", devices=4, batch=8, epochs=3),
        _training(103, "central storage", batches=2, batch=24),
        _training(104, "two workers", devices=1, size=2, batches=4, batch=8),
    ),
    "parameter_server": (
        Case(1, 101, {"steps": 1, "killed": None}),
        Case(1, 102, {"steps": 12, "killed": 0}),
    ),
}  # fmt: skip
