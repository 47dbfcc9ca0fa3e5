"""A Slurm of two nodes for the tests in this folder, and the course on it as a student has it."""

import itertools
import sys
from pathlib import Path

import pytest

from grader import coursedir

sys.path.insert(0, str(coursedir.ROOT / "deploy" / "slurm"))
import cluster as deployed  # noqa: E402
from desks import Desk  # noqa: E402

_numbers = itertools.count()


def pytest_collection_modifyitems(items):
    here = str(Path(__file__).parent / "_")[:-1]
    for item in items:
        if str(item.path).startswith(here):  # there are thousands of items
            item.add_marker(pytest.mark.slurm)


@pytest.fixture(scope="session")
def cluster():
    """The cluster, up. It goes down with this process, however that ends."""
    if reason := deployed.obstacle():
        pytest.skip(reason)
    with deployed.Cluster(deployed.temporary()) as up:
        yield up


@pytest.fixture
def desk(cluster):
    """An empty folder of the student's. What is still in the queue afterwards is cancelled."""
    made = Desk(cluster, cluster.home / f"desk-{next(_numbers)}")
    yield made
    made.run("scancel", "--user", deployed.STUDENT)
