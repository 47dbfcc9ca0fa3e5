"""Simulates what a program would do on a cluster that is only described.

    cluster = Cluster(nodes=512, gpus=8)                     # 4,096 GPUs
    times = run_steps(ring(cluster.size, 1e8), cluster)      # seconds at which each rank is done
    played = replay(recorded(result.records), Cluster(nodes=2, gpus=2))
    timeline(played)                                         # the same picture as of a real run

Two engines share one model of a network (`network`). `steps` moves all ranks at once through an
algorithm that is described as steps, for any number of ranks. `replay` follows every operation of
every rank, recorded in a real run or written by hand, and gives records like those of a real run.
"""

from distlab.simulation.algorithms import (
    halving_doubling,
    hierarchical,
    parameter_server,
    ring,
    tree,
)
from distlab.simulation.data_parallel import data_parallel_rates
from distlab.simulation.network import (
    ETHERNET_100,
    INFINIBAND_NDR,
    NVLINK_4,
    PCIE_5,
    Cluster,
)
from distlab.simulation.programs import described, pipeline, recorded
from distlab.simulation.replay import replay
from distlab.simulation.stages import run_pipeline
from distlab.simulation.steps import Pattern, Step, run_steps

__all__ = [
    "ETHERNET_100",
    "INFINIBAND_NDR",
    "NVLINK_4",
    "PCIE_5",
    "Cluster",
    "Pattern",
    "Step",
    "data_parallel_rates",
    "described",
    "halving_doubling",
    "hierarchical",
    "parameter_server",
    "pipeline",
    "recorded",
    "replay",
    "ring",
    "run_pipeline",
    "run_steps",
    "tree",
]
