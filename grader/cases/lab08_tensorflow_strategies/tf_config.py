"""Hidden cases of `tf_config`."""

from distlab.exercises.exercise import Case
from grader.cases import Drawn


def _workers(seed, index, *workers):
    return Case(1, seed, {"workers": list(workers), "index": index})


def _cluster(seed, count):
    """Some workers, each on a node and a port of its own, in no order."""

    def params(chance):
        nodes = chance.order(range(10, 10 + count))
        port, index = chance.whole(20_000, 30_000), chance.whole(1, count - 1)
        return {"workers": [f"node{n}.cluster.example:{port + n}" for n in nodes], "index": index}

    return Drawn(1, seed, params)


HIDDEN = (
    _workers(101, 0, "localhost:1"),
    _cluster(102, 5),
    _workers(103, 2, "b:2222", "a:2222", "c:2222"),
)
