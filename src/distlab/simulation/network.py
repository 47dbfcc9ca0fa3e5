"""A cluster: nodes of GPUs, a link inside each node and another between them.

A message waits until its sender's port is free and occupies it for n/β seconds. Its first byte is
on its way for α, and from then on it occupies its receiver's port for n/β seconds. So it takes
α + n/β between idle ports, and no port carries more than β. This is the model of
`distlab.simulation.cost_model` with ports that many may want at once, as in LogGP (Alexandrov and
others, 1995) without its overheads. There are no switches: any two ports may talk at full
bandwidth, as in a network with full bisection.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from distlab.simulation.cost_model import Link

# Bandwidths are those that the makers state, in one direction. Latencies are what a message of a
# few bytes takes from one GPU's memory to another's in a library such as NCCL: an order of
# magnitude, to be replaced by what a ping-pong finds on the cluster in question.

#: Of an H100 SXM: 900 GB/s, both directions together (NVIDIA, "H100 Tensor Core GPU", 2022).
NVLINK_4 = Link(latency=2e-6, bandwidth=450e9)
#: 16 lanes of 32 GT/s with 128b/130b encoding (PCI Express Base Specification 5.0, 2019).
PCIE_5 = Link(latency=5e-6, bandwidth=63e9)
#: One port of 400 Gbit/s (NVIDIA, "ConnectX-7", 2022).
INFINIBAND_NDR = Link(latency=5e-6, bandwidth=50e9)
#: 100 Gbit/s, through the kernel's TCP.
ETHERNET_100 = Link(latency=30e-6, bandwidth=12.5e9)


@dataclass(frozen=True)
class Cluster:
    """`nodes` × `gpus` ranks, numbered node by node.

    Args:
        nodes: how many machines.
        gpus: ranks of each.
        inside: what connects two ranks of a node; each rank has a port of its own.
        between: what connects the adapters of two nodes.
        adapters: network adapters of each node, over which its ranks are dealt out in turn; by
            default one for each rank.
        slow: rank → how many times as long it computes as the others.
        lost: rank → seconds after the start at which it dies.

    Raises:
        ValueError: there is no such cluster.
    """

    nodes: int
    gpus: int = 1
    inside: Link = NVLINK_4
    between: Link = INFINIBAND_NDR
    adapters: int = 0
    slow: Mapping[int, float] = field(default_factory=dict)
    lost: Mapping[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if min(self.nodes, self.gpus) < 1 or not 0 <= self.adapters <= self.gpus:
            raise ValueError(
                f"no cluster has {self.nodes} nodes of {self.gpus} GPUs with {self.adapters} "
                "network adapters: a node has at least one GPU and at most an adapter for each"
            )
        strangers = [rank for rank in (*self.slow, *self.lost) if not 0 <= rank < self.size]
        if strangers:
            raise ValueError(f"rank {strangers[0]} is none of 0 to {self.size - 1}")

    @property
    def size(self) -> int:
        """The number of ranks."""
        return self.nodes * self.gpus

    @property
    def ports(self) -> int:
        """How many ports there are: each rank's own inside its node, and all adapters."""
        return self.size + self.nodes * (self.adapters or self.gpus)

    def links(self, src: np.ndarray, dst: np.ndarray) -> tuple[np.ndarray, ...]:
        """(latency, seconds a byte, sender's port, receiver's port) of messages, as arrays."""
        near = src // self.gpus == dst // self.gpus
        latency = np.where(near, self.inside.latency, self.between.latency)
        per_byte = np.where(near, 1 / self.inside.bandwidth, 1 / self.between.bandwidth)
        return (
            latency, per_byte, np.where(near, src, self._adapter(src)),
            np.where(near, dst, self._adapter(dst)),
        )  # fmt: skip

    def _adapter(self, rank: np.ndarray) -> np.ndarray:
        each = self.adapters or self.gpus
        ports: np.ndarray = self.size + rank // self.gpus * each + rank % self.gpus % each
        return ports

    def slowness(self) -> np.ndarray:
        """How many times as long each rank computes."""
        factors = np.ones(self.size)
        for rank, factor in self.slow.items():
            factors[rank] = factor
        return factors

    def __str__(self) -> str:
        return f"{self.size:,} ranks: {self.nodes:,} nodes of {self.gpus}"
