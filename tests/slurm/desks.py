"""A folder of the student's on the tests' cluster."""

import os
import shutil
from pathlib import Path

import cluster as deployed


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
