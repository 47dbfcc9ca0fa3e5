"""How long until four ranks are up, and until a check is answered.

python -m bench.startup
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import cloudpickle

from bench import Row, in_turn, run_all

RANKS = 4
REPEATS, CHECKS = 3, 9

_OURS = """
import time; begin = time.perf_counter()
from distlab import Ranks
def all_reduce(rank, size):
    import torch, torch.distributed as dist
    tensor = torch.ones(1)
    dist.all_reduce(tensor)
    return tensor.item()
assert list(Ranks({ranks}).run(all_reduce)) == [{ranks}.0] * {ranks}
print(time.perf_counter() - begin)
"""
_STOCK = """
import time; begin = time.perf_counter()
import ipyparallel as ipp
def all_reduce(rank, size, store):
    import torch, torch.distributed as dist
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=size)
    tensor = torch.ones(1)
    dist.all_reduce(tensor)
    return tensor.item()
import tempfile, os
with tempfile.TemporaryDirectory() as folder, ipp.Cluster(n={ranks}, log_level=40) as client:
    client.wait_for_engines({ranks})
    store = os.path.join(folder, "store")
    waiting = [client[i].apply_async(all_reduce, i, {ranks}, store) for i in range({ranks})]
    assert [w.get() for w in waiting] == [{ranks}.0] * {ranks}
    print(time.perf_counter() - begin)
"""


def measure() -> Iterator[Row]:
    ours, stock = in_turn(lambda: _seconds(_OURS), lambda: _seconds(_STOCK), REPEATS)
    yield Row(f"{RANKS} ranks up, first all-reduce done", ours, stock, "ipyparallel.Cluster")
    yield _check()


def _seconds(program: str) -> float:
    """What a fresh Python measures for `program`."""
    answer = subprocess.run(
        [sys.executable, "-c", program.format(ranks=RANKS)], capture_output=True, text=True,
        env={**os.environ, "GLOO_SOCKET_IFNAME": "lo"}, timeout=300,
    )  # fmt: skip
    if answer.returncode:
        raise RuntimeError(answer.stderr[-2000:])
    return float(answer.stdout.split()[-1])


def exchange(rank: int, size: int):
    """The program that both ways of checking run."""
    import torch
    import torch.distributed as dist

    mine, theirs = torch.full((4,), float(rank)), torch.empty(4)
    requests = [dist.isend(mine, rank ^ 1), dist.irecv(theirs, rank ^ 1)]
    for request in requests:
        request.wait()
    return theirs.tolist()


def _check() -> Row:
    from distlab import Ranks

    ranks = Ranks(2)
    expected = [[1.0] * 4, [0.0] * 4]
    cloudpickle.register_pickle_by_value(sys.modules[__name__])

    def warm() -> float:
        begin = time.perf_counter()
        assert list(ranks.run(exchange)) == expected
        return time.perf_counter() - begin

    def spawned() -> float:
        begin = time.perf_counter()
        assert _by_spawn() == expected
        return time.perf_counter() - begin

    warm()
    ours, theirs = in_turn(warm, spawned, CHECKS)
    return Row("a check of `exchange` on 2 ranks answered", ours, theirs, "mp.spawn per check")


def _by_spawn() -> list:
    import tempfile

    import torch.multiprocessing as mp

    with tempfile.TemporaryDirectory() as folder:
        queue = mp.get_context("spawn").SimpleQueue()
        mp.spawn(_spawned, (f"{folder}/store", queue), nprocs=2)
        return [value for _, value in sorted(queue.get() for _ in range(2))]


def _spawned(rank: int, store: str, queue) -> None:
    import torch.distributed as dist

    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    queue.put((rank, exchange(rank, 2)))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    raise SystemExit(run_all(["startup"]))
