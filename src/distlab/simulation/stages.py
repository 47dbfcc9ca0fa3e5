"""Times a pipeline of any number of stages, micro-batch by micro-batch instead of event by event.

Micro-batch m has reached stage s + 1 when it has been through stage s, the ports and the link, and
each of these is free when micro-batch m − 1 has left it. The moments are
a(s + 1) = max(a(s) + A(s), B(s)), where A is the time to pass a stage and a link, and B the moment
at which these are free. With the sums of A subtracted, that is a running maximum, which NumPy
computes for all stages at once.
"""

from __future__ import annotations

import numpy as np

from distlab.simulation.network import Cluster


def run_pipeline(
    cluster: Cluster, microbatches: int, n_bytes: float, forward: float, backward: float
) -> np.ndarray:
    """When each rank is done with one step of GPipe, a stage a rank, in seconds after the start.

    The times are those of `replay(pipeline(cluster.size, …), cluster)`, for any number of ranks.

    Args:
        n_bytes: of one micro-batch's activations, and again of their gradients.
        forward: seconds that a micro-batch takes in a stage on its way there.
        backward: and on its way back.

    Raises:
        ValueError: a rank of the cluster is lost; `replay` follows those.
    """
    if cluster.lost:
        raise ValueError("a pipeline that loses a rank never ends: `replay` shows what it does")
    stages, slowness = np.arange(cluster.size), cluster.slowness()
    ports = np.zeros(cluster.ports), np.zeros(cluster.ports)
    free = np.zeros(cluster.size)
    there = _Way(cluster, stages, n_bytes, *ports)
    for _ in range(microbatches):
        free = there.pass_on(free, forward * slowness)
    back = _Way(cluster, stages[::-1], n_bytes, *ports)
    asked = free
    for _ in range(microbatches):
        asked = free
        free = back.pass_on(free[::-1], backward * slowness[::-1])[::-1]
    if microbatches and cluster.size > 1:  # a send ends when it is out and somebody receives it
        free[1:] = np.maximum(free[1:], np.maximum(back.sent[::-1], asked[:-1]))
    return free


class _Way:
    """Stages in the order in which a micro-batch passes them.

    Args:
        out, into: when each port of the cluster is free to send and to receive; they are updated.

    Attributes:
        sent: when the last micro-batch has left each stage's port.
    """

    def __init__(
        self,
        cluster: Cluster,
        stages: np.ndarray,
        n_bytes: float,
        out: np.ndarray,
        into: np.ndarray,
    ) -> None:
        latency, per_byte, self._from, self._to = cluster.links(stages[:-1], stages[1:])
        self._latency, self._duration = latency, per_byte * n_bytes
        self._out, self._in = out, into
        self.sent = np.zeros(len(stages) - 1)

    def pass_on(self, free: np.ndarray, work: np.ndarray) -> np.ndarray:
        """Send one more micro-batch through; returns when each stage is done with it.

        Args:
            free: when each stage has finished what came before.
            work: seconds of each stage.
        """
        out = self._out[self._from]
        passing = np.cumsum(work[:-1] + self._latency + self._duration)
        left = np.maximum(free[:-1] + work[:-1], out)  # a stage that had its input at once
        held = np.maximum(left + self._latency, self._in[self._to]) + self._duration
        come = np.maximum.accumulate(held - passing) + passing
        done: np.ndarray = np.maximum(free, np.concatenate([free[:1], come])) + work
        self.sent = np.maximum(done[:-1], out) + self._duration
        self._out[self._from], self._in[self._to] = self.sent, come
        return done
