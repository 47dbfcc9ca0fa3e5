"""SimGrid, which others wrote, says the same of the same programs."""

import pytest

from bench import simgrid
from distlab.simulation import (
    Cluster,
    Step,
    halving_doubling,
    hierarchical,
    parameter_server,
    pipeline,
    ring,
    run_pipeline,
    run_steps,
    tree,
)

pytestmark = [
    pytest.mark.skipif(bool(simgrid.missing()), reason=f"left out: {simgrid.missing()}"),
    pytest.mark.slow,  # a C++ compiler takes seconds
]

NODES = Cluster(4, 4, slow={5: 2.0})


@pytest.mark.parametrize("algorithm", [ring, tree, halving_doubling, parameter_server, "nodes"])
def test_steps(algorithm):
    # whoever is late shares an adapter with the next step's messages in SimGrid, and waits for its
    # turn here: with one slow rank that is 9% where steps of several sizes overlap
    nodes = Cluster(4, 4) if algorithm is halving_doubling else NODES
    made = hierarchical(nodes, 4e8) if algorithm == "nodes" else algorithm(nodes.size, 4e8)
    steps = [Step(None, seconds=1e-3), *made]
    theirs = max(simgrid.ends(simgrid.of_steps(steps, nodes), nodes))
    assert run_steps(steps, nodes).max() == pytest.approx(theirs, rel=0.05)


def test_a_pipeline():
    programs = pipeline(NODES.size, 3, 1_000_000, 1e-3, 2e-3)
    theirs = max(simgrid.ends(simgrid.of_pipeline(programs, NODES), NODES))
    assert run_pipeline(NODES, 3, 1e6, 1e-3, 2e-3).max() == pytest.approx(theirs, rel=0.05)


def test_its_own_settings_would_not_do(monkeypatch):
    """The comparison can fail: with a bandwidth of 80% SimGrid says something else."""
    steps = list(ring(NODES.size, 4e8))
    changed = [
        one.replace("bandwidth-factor:1", "bandwidth-factor:0.8") for one in simgrid.SETTINGS
    ]
    monkeypatch.setattr(simgrid, "SETTINGS", changed)
    theirs = max(simgrid.ends(simgrid.of_steps(steps, NODES), NODES))
    assert abs(run_steps(steps, NODES).max() / theirs - 1) > 0.05
