"""Puts the students' lab folders into the package that is built, for `distlab fetch`.

Everything else stands in pyproject.toml. Only what `labs/` is released with goes in: notebooks,
scripts, batch files, the outputs that visible cases should give, and what assistants are told.
"""

import json
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

LABS = Path(__file__).parent / "labs"
RELEASED = ("*.ipynb", "*.py", "*.sbatch", "reference.json", "reference.safetensors", "AGENTS.md")
TODO = 'raise NotImplementedError("TODO'


class WithLabs(build_py):
    """Copies the labs beside the modules, unless somebody has answered in them."""

    def run(self) -> None:
        package = Path(self.build_lib, "distlab")
        if not self.editable_mode:
            shutil.rmtree(package, ignore_errors=True)  # of a build before, modules that went too
        super().run()
        if self.editable_mode:  # there `distlab fetch` finds them in the repository
            return
        target = package / "labs"
        for path in released():
            to = target / path.relative_to(LABS)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, to)


def released() -> list[Path]:
    """The files of all labs.

    Raises:
        SystemExit: a notebook holds an answer.
    """
    found = sorted(
        p for lab in LABS.glob("[0-9][0-9]-*") for one in RELEASED for p in lab.glob(one)
    )
    for path in found:
        if path.suffix == ".ipynb" and (answered := answers(path)):
            raise SystemExit(
                f"{path.relative_to(LABS.parent)} holds an answer to {answered[0]}, which no "
                "student should get: build from a checkout in which nobody has answered"
            )
    return found


def answers(path: Path) -> list[str]:
    """The cells of a notebook in which something stands in place of the TODO."""
    found = []
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        grading = cell["metadata"].get("nbgrader", {})
        asked = grading.get("solution") and not grading.get("grade")
        if asked and TODO not in "".join(cell["source"]):
            found.append(grading["grade_id"])
    return found


setup(cmdclass={"build_py": WithLabs})
