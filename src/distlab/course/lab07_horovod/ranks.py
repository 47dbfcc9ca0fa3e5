"""Horovod on the ranks of this course.

`horovodrun` starts processes, tells each in environment variables who it is, and runs a small HTTP
server at which they find each other. Here the processes are there already, so that only the
variables and the server are missing; the Horovod that then runs is the real one.

    ranks.run(with_horovod(step), batch)      # in a notebook
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from distlab.processes.environment import loopback
from distlab.rank.leaving import end_later
from distlab.rank.sharing import among_ranks

_POLL = 0.01  # seconds between two looks of the rendezvous server at whether it is to end
PATIENCE = 8.0  # seconds in which ranks have to find each other


def prepare(rank: int, size: int, per_node: int | None = None) -> None:
    """Do for this rank what `horovodrun` does before it starts a program, so that `hvd.init()`
    works. Horovod is shut down when the next run on this rank begins.

    Args:
        per_node: act as if so many ranks shared a machine; all of them do by default.
    """
    from distlab.course.lab07_horovod import records  # which imports Horovod

    records.watch()  # a rank that was forked before its zygote had imported all has not begun to
    port = among_ranks("horovod", rank, size, lambda: _serve() if rank == 0 else None)[0]
    os.environ.update(variables(rank, size, per_node or size, port))
    end_later(_shut_down)


def variables(rank: int, size: int, per_node: int, port: int) -> dict[str, str]:
    """The environment of a rank, as `horovodrun --gloo` sets it."""
    node, local_rank = divmod(rank, per_node)
    nodes = -(-size // per_node)
    values = {
        "RANK": rank, "SIZE": size, "LOCAL_RANK": local_rank,
        "LOCAL_SIZE": min(per_node, size - node * per_node), "CROSS_RANK": node,
        "CROSS_SIZE": nodes if local_rank < size - (nodes - 1) * per_node else nodes - 1,
        "HOSTNAME": f"node{node}", "CONTROLLER": "gloo", "CPU_OPERATIONS": "gloo",
        "GLOO_IFACE": loopback(), "GLOO_RENDEZVOUS_ADDR": "127.0.0.1",
        "GLOO_RENDEZVOUS_PORT": port, "GLOO_TIMEOUT_SECONDS": int(PATIENCE),
        # the record of the run explains a hang sooner than Horovod warns of it
        "STALL_CHECK_DISABLE": 1, "LOG_LEVEL": "fatal",
    }  # fmt: skip
    return {f"HOROVOD_{name}": str(value) for name, value in values.items()}


def _serve() -> int:
    """Start Horovod's rendezvous server on a free port of this machine; returns the port."""
    from horovod.runner.http.http_server import RendezvousHandler, RendezvousHTTPServer

    server = RendezvousHTTPServer(("127.0.0.1", 0), RendezvousHandler, 0)
    server.daemon_threads = True
    # polls often, because the next run waits for its end
    threading.Thread(target=server.serve_forever, args=(_POLL,), daemon=True).start()

    def stop() -> None:
        server.shutdown()
        server.server_close()

    end_later(stop)
    return server.server_address[1]


def _shut_down() -> None:
    """End Horovod in this process, for each framework that it was initialised for."""
    for framework in ("torch", "tensorflow"):
        operations = sys.modules.get(f"horovod.{framework}.mpi_ops")
        if operations is not None and operations.is_initialized():
            operations.shutdown()


def with_horovod(
    function: Callable[..., Any],
    per_node: int | None = None,
    framework: str = "torch",
    **settings: object,
) -> Callable[..., Any]:
    """`function(rank, size, …)` for `Ranks.run`, called after `hvd.init()` on every rank.

    Args:
        framework: whose Horovod it is that is initialised, "torch" or "tensorflow".
        settings: Horovod's own, `fusion_threshold=0` for HOROVOD_FUSION_THRESHOLD.
    """

    @functools.wraps(function)
    def initialised(rank: int, size: int, *args: Any) -> Any:
        initialise(rank, size, per_node, framework, **settings)
        return function(rank, size, *args)

    return initialised


def initialise(
    rank: int, size: int, per_node: int | None, framework: str, **settings: object
) -> Any:
    """Horovod's module for a framework, initialised on this rank as `with_horovod` says."""
    from distlab.rank import recording

    hvd = importlib.import_module(f"horovod.{framework}")
    if framework == "tensorflow":
        restrain_tensorflow()
    prepare(rank, size, per_node)
    told = {f"HOROVOD_{name.upper()}": str(value) for name, value in settings.items()}
    os.environ.update(told)
    end_later(lambda: [os.environ.pop(name, None) for name in told])
    with recording.paused():
        hvd.init()
    return hvd


@functools.cache
def restrain_tensorflow() -> None:
    """Keep TensorFlow on this rank to one thread, however many cores there are, and to no GPU."""
    import tensorflow as tf

    with contextlib.suppress(RuntimeError):  # TensorFlow has started: too late to configure it
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        tf.config.set_visible_devices([], "GPU")


def built() -> None:
    """Print what the installed Horovod was built with."""
    import horovod
    import horovod.torch as hvd

    from distlab.processes import frameworks

    print(f"Horovod {horovod.__version__}")
    frameworks_text = ", ".join(f"{n} {v}" for n, v in frameworks.horovod_built_for().items())
    print(f"  for        {frameworks_text}")
    how = {"gloo": hvd.gloo_built(), "MPI": hvd.mpi_built(), "NCCL": bool(hvd.nccl_built())}
    print(f"  with       {', '.join(name for name, there in how.items() if there)}")
    print(f"  without    {', '.join(name for name, there in how.items() if not there) or '-'}")
