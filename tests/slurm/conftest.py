"""A Slurm of two nodes for the tests in this folder, and the course on it as a student has it."""

import itertools
import os
import shutil
import sys
from pathlib import Path

import pytest

from grader import course

sys.path.insert(0, str(course.ROOT / "deploy" / "slurm"))
import cluster as deployed  # noqa: E402

_numbers = itertools.count()


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.slurm)


@pytest.fixture(scope="session")
def cluster():
    """The cluster, up. It goes down with this process, however that ends."""
    if reason := deployed.obstacle():
        pytest.skip(reason)
    with deployed.Cluster(deployed.temporary()) as up:
        yield up


class Desk:
    """A folder of the student's, and commands in it."""

    def __init__(self, cluster, folder: Path) -> None:
        self.cluster, self.folder = cluster, folder
        folder.mkdir(parents=True)
        self.own()

    def own(self) -> None:
        """Give the student everything that was put here."""
        for path in (self.folder, *self.folder.rglob("*")):
            os.chown(path, deployed.UID, deployed.UID)

    def take(self, *paths: Path) -> None:
        """Copy files and folders here."""
        for path in paths:
            if path.is_dir():
                leave = shutil.ignore_patterns("__pycache__", "submitted", "ledger", "out")
                shutil.copytree(path, self.folder / path.name, ignore=leave)
            else:
                shutil.copy(path, self.folder)
        self.own()

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)
        self.own()

    def command(self, *words, **env) -> list[str]:
        return self.cluster.command(*map(str, words), cwd=self.folder, **env)

    def run(self, *words, **options):
        """Run a command to its end; see `Cluster.run`."""
        return self.cluster.run(*map(str, words), **{"cwd": self.folder, **options})

    def distlab(self, *words, **options):
        return self.run("python", "-m", "distlab", *words, **options)

    def root(self, *words):
        return self.cluster.run(*map(str, words), user="root")


@pytest.fixture
def desk(cluster):
    """An empty folder of the student's. What is still in the queue afterwards is cancelled."""
    made = Desk(cluster, cluster.home / f"desk-{next(_numbers)}")
    yield made
    made.run("scancel", "--user", deployed.STUDENT)
