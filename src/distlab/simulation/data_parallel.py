"""Data-parallel training on clusters that are not there: images a second by number of GPUs."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from distlab.simulation.algorithms import hierarchical
from distlab.simulation.network import INFINIBAND_NDR, Cluster, Link
from distlab.simulation.steps import Step, run_steps


def data_parallel_rates(
    nodes: Iterable[int],
    images: Callable[[int], float],
    between: Link = INFINIBAND_NDR,
    *,
    gpus: int = 8,
    image_seconds: float = 1e-3,
    gradient_bytes: float = 102e6,
    spread: float = 0.0,
) -> dict[int, float]:
    """Throughput of training that computes, then sums its gradients up by hierarchical rings.

    Args:
        nodes: how many nodes, for each cluster.
        images: of each GPU and step, a function of the number of GPUs.
        between: the link of a GPU to other nodes.
        gpus: of a node.
        image_seconds: that a GPU computes on an image.
        gradient_bytes: of all gradients; 102 MB is ResNet-50.
        spread: GPUs are late by chance, by this share of their computing (one standard deviation).

    Returns:
        {number of GPUs: images per second of all}. A step ends when its last GPU is done.
    """
    found = {}
    for count in nodes:
        cluster = Cluster(count, gpus=gpus, between=between)
        share = images(cluster.size)
        late = np.abs(np.random.default_rng(0).normal(0, spread, cluster.size))
        compute = Step(None, seconds=share * image_seconds * (1 + late))
        steps = [compute, *hierarchical(cluster, gradient_bytes)]
        found[cluster.size] = cluster.size * share / run_steps(steps, cluster).max()
    return found
